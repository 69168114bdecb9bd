import type { Authenticator } from '../framework/authenticator.ts'
import {
  bearers,
  clientCertificates,
  tokenAuthenticator,
  tokenFile,
  union,
} from '../framework/authn/index.ts'
import { type Mapping, MappingError, parseMappings } from '../proxy/mapping.ts'
import { audience } from './authentication.ts'
import { readAuthorities } from './authorities.ts'
import { readFlagFile } from './files.ts'
import type { FrontProxyFlags } from './frontproxyflags.ts'
import { StartError } from './starterror.ts'

/** What the mapping file says. Throws `StartError` with line and field of what is wrong. */
export async function readMappings(path: string): Promise<readonly Mapping[]> {
  const text = await readFlagFile('--mapping-file', path)
  try {
    return parseMappings(text)
  } catch (error) {
    if (error instanceof MappingError) throw new StartError(`${path}: ${error.message}.`)
    throw error
  }
}

/** What a mapping's own files say, with what is wrong about them as a `StartError`. */
export async function usable<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof MappingError) throw new StartError(`${error.message}.`)
    throw error
  }
}

/** Who is known at the edge. */
export interface EdgeAuthentication {
  /** Absent where no flag makes anybody known: credentials then go on to the shards. */
  readonly authenticator?: Authenticator
  /** PEM: what TLS asks clients for. */
  readonly clientCA?: string
}

export async function edgeAuthentication(flags: FrontProxyFlags): Promise<EdgeAuthentication> {
  const { users } = await readAuthorities(flags)
  const authenticators: Authenticator[] = users === undefined ? [] : [clientCertificates({ ca: users })]
  if (flags.tokenAuthFile !== undefined) {
    const csv = await readFlagFile('--token-auth-file', flags.tokenAuthFile)
    authenticators.push(bearers(tokenAuthenticator([tokensOf(csv, flags.tokenAuthFile)], [audience])))
  }
  if (authenticators.length === 0) return {}
  return { authenticator: union(...authenticators), ...(users && { clientCA: users }) }
}

function tokensOf(csv: string, path: string): ReturnType<typeof tokenFile> {
  try {
    return tokenFile(csv)
  } catch (error) {
    throw new StartError(`${path} is not a token file: ${(error as Error).message}.`)
  }
}
