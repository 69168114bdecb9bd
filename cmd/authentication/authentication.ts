import {
  type BearerTokenReader,
  bearers,
  clientCertificates,
  type IdentityHeaders,
  requestHeaders,
  type ServiceAccountKeys,
  type SigningKeys,
  type TokenAuthenticator,
  tokenAuthenticator,
  tokenFile,
  union,
  webhookTokensDefaults,
} from '../../framework/authn/index.ts'
import { jwtTokens } from '../../framework/authn/jwt/index.ts'
import type { Authenticator } from '../../framework/request/authenticator.ts'
import {
  type Authorities,
  type AuthorityWatch,
  followAuthorities,
  readAuthorities,
} from '../certificates/authorities.ts'
import { readFlagFile } from '../files/files.ts'
import type { FileWatchEnding } from '../files/follow.ts'
import { StartError } from '../files/starterror.ts'
import type { AuthenticationFlags, RequestHeaderFlags, ServiceAccountFlags } from '../flags/authentication.ts'
import { admits } from '../flags/issuers.ts'
import { openIssuers } from './followedissuers.ts'
import type { TokenWebhook } from './webhooks.ts'

/** Authentication of requests and of single tokens. */
export interface Authentication {
  readonly authenticator: Authenticator
  readonly tokens: TokenAuthenticator
}

/** Authentication by the flags of a server. */
export interface PreparedIdentities {
  readonly identityHeaders: IdentityHeaders
  /** The current certificate authorities of client certificates. */
  authorities(): Authorities
  /** Adds authenticators of other tokens: service accounts, and issuers of workspaces. */
  with(...others: readonly BearerTokenReader[]): Authentication
  /** Reloads the certificate authorities, the issuers and the credentials for the webhook when their files change. */
  follow(server: AuthorityWatch['server'], ending: FileWatchEnding): void
}

/** Authentication by the flags of a server, with the keys of service account tokens. */
export interface PreparedAuthentication extends PreparedIdentities {
  readonly serviceAccounts: ServiceAccountKeys
}

/** `aud` and `iss` of service account tokens, and the accepted audience, with kcp’s default. */
export const audience = 'https://kcp.default.svc'

/** Accepted token audiences: `--api-audiences`, or the issuers of service account tokens. */
const audiencesOf = (
  options: Pick<AuthenticationFlags & ServiceAccountFlags, 'apiAudiences' | 'serviceAccountIssuer'>,
): readonly string[] => options.apiAudiences ?? options.serviceAccountIssuer ?? [audience]

/** The issuer, audiences and keys of service account tokens, by the flags. */
export function accountKeys(
  options: AuthenticationFlags & ServiceAccountFlags,
  keys: SigningKeys,
): ServiceAccountKeys {
  const [issuer = audience, ...formerIssuers] = options.serviceAccountIssuer ?? []
  const life = options.serviceAccountMaxTokenExpiration
  return {
    keys,
    issuer,
    formerIssuers,
    audiences: audiencesOf(options),
    ...(life === undefined ? {} : { longest: Math.floor(life / 1000) }),
  }
}

/** Authentication by the flags, and of the users whom `fixed` reads. Throws `StartError` on invalid files. */
export const prepareAuthentication = async (
  options: AuthenticationFlags,
  fixed: readonly BearerTokenReader[],
  serviceAccounts: ServiceAccountKeys,
): Promise<PreparedAuthentication> => ({
  ...(await prepareIdentities(
    options,
    [serviceAccounts.issuer, ...(serviceAccounts.formerIssuers ?? [])],
    ...fixed,
  )),
  serviceAccounts,
})

/** Authentication by the flags and `fixed`; `forbidden` issuers are refused. Throws `StartError` on invalid files. */
export async function prepareIdentities(
  options: AuthenticationFlags,
  forbidden: readonly string[],
  ...fixed: BearerTokenReader[]
): Promise<PreparedIdentities> {
  if (options.tokenAuthFile !== undefined) fixed.push(await readTokenFile(options.tokenAuthFile))
  let authorities = await readAuthorities(options)
  const issuers = await openIssuers(options, forbidden)
  const webhook = await webhookOf(options)
  const identityHeaders = identityHeadersOf(options)
  return {
    identityHeaders,
    authorities: () => authorities,
    with(...others) {
      const tokens = tokenAuthenticator(
        [
          ...fixed,
          jwtTokens(() => issuers.current().issuers, options.trustSystemIdentities ?? false),
          ...(webhook === undefined ? [] : [webhook.reader]),
          ...others,
        ],
        audiencesOf(options),
      )
      const allowedNames = options.requestheaderAllowedNames ?? []
      const proxied = { allowedNames, headers: identityHeaders }
      const known = following(() => authorities, bearers(tokens), proxied)
      const admitsAnonymous = (path: string): boolean => admits(issuers.current().anonymous, path)
      return { tokens, authenticator: { ...known, admitsAnonymous } }
    },
    follow(server, ending) {
      const use = (next: Authorities): void => {
        authorities = next
      }
      followAuthorities({ flags: options, current: () => authorities, use, server, ...ending })
      issuers.follow(ending)
      webhook?.follow(ending)
    },
  }
}

async function webhookOf(options: AuthenticationFlags): Promise<TokenWebhook | undefined> {
  const file = options.authenticationTokenWebhookConfigFile
  if (file === undefined) return undefined
  // Loaded only when the flag is set.
  const { tokenWebhook } = await import('./webhooks.ts')
  const { version, cacheTTL } = webhookTokensDefaults
  return tokenWebhook(file, {
    version: options.authenticationTokenWebhookVersion ?? version,
    cacheTTL: options.authenticationTokenWebhookCacheTtl ?? cacheTTL,
  })
}

/** The headers in which front proxies send the user. */
export const identityHeadersOf = (options: RequestHeaderFlags): IdentityHeaders => ({
  user: options.requestheaderUsernameHeaders ?? ['X-Remote-User'],
  group: options.requestheaderGroupHeaders ?? ['X-Remote-Group'],
  extraPrefix: options.requestheaderExtraHeadersPrefix ?? ['X-Remote-Extra-'],
  uid: options.requestheaderUidHeaders ?? ['X-Remote-Uid'],
})

export interface Proxied {
  readonly allowedNames: readonly string[]
  readonly headers: IdentityHeaders
}

/**
 * An authenticator with the current certificate authorities: a removed one is rejected at once, on open connections
 * too.
 */
export function following(
  authorities: () => Authorities,
  bearer: Authenticator,
  proxied: Proxied,
): Authenticator {
  let known: Authorities | undefined
  let authenticator = bearer
  return {
    authenticate(credentials, cluster) {
      const current = authorities()
      if (current !== known) authenticator = authenticatorFor(current, bearer, proxied)
      known = current
      return authenticator.authenticate(credentials, cluster)
    },
  }
}

function authenticatorFor(
  { users, proxies }: Authorities,
  bearer: Authenticator,
  proxied: Proxied,
): Authenticator {
  const otherwise = users === undefined ? bearer : union(clientCertificates({ ca: users }), bearer)
  return proxies === undefined ? otherwise : requestHeaders({ ...proxied, ca: proxies, otherwise })
}

async function readTokenFile(path: string): Promise<BearerTokenReader> {
  const csv = await readFlagFile('--token-auth-file', path)
  try {
    return tokenFile(csv)
  } catch (error) {
    throw new StartError(`${path} is not a token file: ${(error as Error).message}.`)
  }
}
