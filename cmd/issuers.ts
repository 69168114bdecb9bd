import type { AnonymousConfig, AuthenticationConfig } from '../framework/authn/jwt/index.ts'
import { readFlagFile } from './files.ts'
import { isOpenId, type OpenIdOptions, openIdConfig } from './openidflags.ts'
import { StartError } from './starterror.ts'

/** The flags that say which tokens of others are believed, and whether anything is believed of who has none. */
export interface IssuerOptions extends OpenIdOptions {
  readonly authenticationConfig?: string
  readonly anonymousAuth?: boolean
}

/** Whose tokens are believed. Throws `StartError` with everything that is wrong. */
export async function readIssuers(
  options: IssuerOptions,
  forbidden: readonly string[],
): Promise<AuthenticationConfig> {
  const { authenticationConfig: path, anonymousAuth } = options
  const anonymous = anonymousAuth === undefined ? {} : { anonymous: { enabled: anonymousAuth } }
  if (path !== undefined && isOpenId(options))
    throw new StartError('--authentication-config and --oidc-* flags exclude each other: give one of them.')
  if (path === undefined && !isOpenId(options)) return { issuers: [], ...anonymous }
  // Only who has issuers waits for what reads them.
  const [jwt, { tokenExpressions: compiler }] = await Promise.all([
    import('../framework/authn/jwt/index.ts'),
    import('../openapi/cel/tokenexpressions.ts'),
  ])
  const reading = { compiler, forbidden }
  const found =
    path === undefined
      ? usable('What --oidc-* flags say', await openIdConfig(options), ({ config, algorithms }) => ({
          issuers: jwt.issuersOf([config], { ...reading, algorithms }),
        }))
      : usable(path, await readFlagFile('--authentication-config', path), yaml =>
          jwt.readAuthenticationConfig(yaml, reading),
        )
  if (found.anonymous !== undefined && anonymousAuth !== undefined)
    throw new StartError(`${path} says who is let in without credentials: leave out --anonymous-auth.`)
  for (const issuer of found.issuers) void issuer.prepare()
  return { ...found, ...anonymous }
}

function usable<T>(what: string, given: T, read: (given: T) => AuthenticationConfig): AuthenticationConfig {
  try {
    return read(given)
  } catch (error) {
    throw new StartError(`${what} cannot be used: ${(error as Error).message}.`)
  }
}

/** Whether who has no credentials is let in to a path. */
export const admits = (anonymous: AnonymousConfig | undefined, path: string): boolean =>
  anonymous === undefined ||
  (anonymous.enabled && (anonymous.conditions?.some(condition => condition.path === path) ?? true))
