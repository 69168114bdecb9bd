import type { Authenticator } from '../framework/authenticator.ts'
import {
  bearers,
  clientCertificates,
  type ServiceAccountKeys,
  serviceAccountTokens,
  type TokenAuthenticator,
  type TokenReader,
  type TokenUser,
  tokenAuthenticator,
  tokenFile,
  tokenUsers,
  union,
} from '../framework/authn/index.ts'
import { certificatesOf } from '../framework/authn/issuer.ts'
import type { Informers } from '../framework/informer.ts'
import { readFlagFile } from './files.ts'
import type { StartOptions } from './options.ts'
import { StartError } from './starterror.ts'

/** Who is known. */
export interface Authentication {
  readonly authenticator: Authenticator
  readonly tokens: TokenAuthenticator
}

/** Who is known before anything is open; service accounts are objects and come with the logical clusters. */
export interface PreparedAuthentication {
  /** The authorities whose client certificates TLS has to ask for, PEM. */
  readonly clientCA?: string
  /** What service accounts' tokens are signed with. */
  readonly serviceAccounts: ServiceAccountKeys
  /** The same object for the same informers. */
  over(informers: Informers): Authentication
}

/** `aud` and `iss` of service accounts' tokens, and what the server answers to (chapter 30, section 1.7). */
export const audience = 'https://kcp.default.svc'

/** The administrators, the users of the token file and those with client certificates. Throws `StartError` on bad files. */
export async function prepareAuthentication(
  { tokenAuthFile, clientCaFile }: Pick<StartOptions, 'tokenAuthFile' | 'clientCaFile'>,
  admins: readonly TokenUser[],
  serviceAccounts: ServiceAccountKeys,
): Promise<PreparedAuthentication> {
  const fixed = [tokenUsers(admins)]
  if (tokenAuthFile !== undefined) fixed.push(await readTokenFile(tokenAuthFile))
  const clientCA = clientCaFile === undefined ? undefined : await readAuthorities(clientCaFile)
  const known = new WeakMap<Informers, Authentication>()
  return {
    serviceAccounts,
    ...(clientCA === undefined ? {} : { clientCA }),
    over(informers) {
      const made = known.get(informers)
      if (made !== undefined) return made
      const readers = [...fixed, serviceAccountTokens({ ...serviceAccounts, informers })]
      const authentication = authenticationOf(readers, clientCA)
      known.set(informers, authentication)
      return authentication
    },
  }
}

function authenticationOf(readers: readonly TokenReader[], clientCA: string | undefined): Authentication {
  const tokens = tokenAuthenticator(readers, [audience])
  const bearer = bearers(tokens)
  const authenticator = clientCA === undefined ? bearer : union(clientCertificates({ ca: clientCA }), bearer)
  return { tokens, authenticator }
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
