import { certificatesOf } from '../../framework/authn/issuer.ts'
import type { Server } from '../../framework/server/server.ts'
import { readFlagFile } from '../files/files.ts'
import { type FileWatchEnding, follow } from '../files/follow.ts'
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

export interface AuthorityWatch extends FileWatchEnding {
  readonly flags: AuthorityFlags
  /** Those in use. */
  readonly current: () => Authorities
  /** Called when a file has changed, after `server` has the authorities. */
  readonly use: (next: Authorities) => void
  readonly server: Pick<Server, 'useCertificate'>
}

/** Reloads each file of the flags when it changes. An invalid one does not keep the other one from being reloaded. */
export function followAuthorities({ flags, current, use, server, ...ending }: AuthorityWatch): void {
  const add = (changed: Authorities): void => {
    const next = { ...current(), ...changed }
    const clientCA = allAuthorities(next)
    if (clientCA !== undefined) server.useCertificate({ clientCA })
    use(next)
  }
  const { users, proxies } = current()
  const { clientCaFile, requestheaderClientCaFile } = flags
  const read = (own: AuthorityFlags) => () => readAuthorities(own)
  const each = { use: add, ...ending }
  if (users !== undefined && clientCaFile !== undefined)
    follow({ what: 'file of --client-ca-file', current: { users }, read: read({ clientCaFile }), ...each })
  if (proxies !== undefined && requestheaderClientCaFile !== undefined)
    follow({
      what: 'file of --requestheader-client-ca-file',
      current: { proxies },
      read: read({ requestheaderClientCaFile }),
      ...each,
    })
}
