import type { Authenticator } from '../framework/authenticator.ts'
import {
  bearerTokens,
  clientCertificates,
  type TokenReader,
  type TokenUser,
  tokenFile,
  tokenUsers,
  union,
} from '../framework/authn/index.ts'
import { certificatesOf } from '../framework/authn/issuer.ts'
import { readFlagFile } from './files.ts'
import type { StartOptions } from './options.ts'
import { StartError } from './starterror.ts'

/** Who is known, and the authorities whose client certificates TLS has to ask for. */
export interface Authentication {
  readonly authenticator: Authenticator
  /** PEM. */
  readonly clientCA?: string
}

/** The administrators, the users of the token file and those with client certificates. Throws `StartError` on bad files. */
export async function prepareAuthentication(
  { tokenAuthFile, clientCaFile }: StartOptions,
  admins: readonly TokenUser[],
): Promise<Authentication> {
  const readers = [tokenUsers(admins)]
  if (tokenAuthFile !== undefined) readers.push(await readTokenFile(tokenAuthFile))
  const tokens = bearerTokens(...readers)
  if (clientCaFile === undefined) return { authenticator: tokens }
  const clientCA = await readAuthorities(clientCaFile)
  return { authenticator: union(clientCertificates({ ca: clientCA }), tokens), clientCA }
}

async function readTokenFile(path: string): Promise<TokenReader> {
  const csv = await readFlagFile('--token-auth-file', path)
  try {
    return tokenFile(csv)
  } catch (error) {
    throw new StartError(`${path} is not a token file: ${(error as Error).message}.`)
  }
}

async function readAuthorities(path: string): Promise<string> {
  const bundle = await readFlagFile('--client-ca-file', path)
  try {
    certificatesOf(bundle)
    return bundle
  } catch {
    throw new StartError(`${path} holds no certificate: give --client-ca-file a PEM file.`)
  }
}
