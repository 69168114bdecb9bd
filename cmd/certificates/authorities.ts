import { certificatesOf } from '../../framework/authn/issuer.ts'
import { readFlagFile } from '../files/files.ts'
import { StartError } from '../files/starterror.ts'

/** Certificate authorities of client certificates, PEM. */
export interface Authorities {
  /** Of users. */
  readonly users?: string
  /** Of front proxies. */
  readonly proxies?: string
}

/** The flags with the files of certificate authorities. */
export interface AuthorityFlags {
  readonly clientCaFile?: string
  readonly requestheaderClientCaFile?: string
}

/** Reads the files of the flags. Throws `StartError` on a file without a certificate. */
export async function readAuthorities(options: AuthorityFlags): Promise<Authorities> {
  const [users, proxies] = await Promise.all([
    readIfGiven('--client-ca-file', options.clientCaFile),
    readIfGiven('--requestheader-client-ca-file', options.requestheaderClientCaFile),
  ])
  return { ...(users && { users }), ...(proxies && { proxies }) }
}

/** All authorities in one PEM text; undefined without any. */
export const allAuthorities = ({ users, proxies }: Authorities): string | undefined =>
  users === undefined && proxies === undefined ? undefined : `${users ?? ''}\n${proxies ?? ''}`

const readIfGiven = (flag: string, path: string | undefined): Promise<string | undefined> =>
  path === undefined ? Promise.resolve(undefined) : readAuthority(flag, path)

/** Reads the file of a flag: certificate authorities in PEM. Throws `StartError` on a file without a certificate. */
export async function readAuthority(flag: string, path: string): Promise<string> {
  const pem = await readFlagFile(flag, path)
  try {
    certificatesOf(pem)
    return pem
  } catch {
    throw new StartError(`${path} contains no valid certificate: give ${flag} a PEM file.`)
  }
}
