import type { AnonymousConfig, AuthenticationConfig } from '../../framework/authn/jwt/index.ts'
import { readFlagFile } from '../files/files.ts'
import { StartError } from '../files/starterror.ts'
import { isOpenId, type OpenIdOptions, openIdConfig } from './openid.ts'

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
  // Only who has issuers waits for what reads them.
  const found =
    path !== undefined || isOpenId(options) ? await configured(options, forbidden) : { issuers: [] }
  if (found.anonymous !== undefined && anonymousAuth !== undefined)
    throw new StartError(`${path} says who is let in without credentials: leave out --anonymous-auth.`)
  for (const issuer of found.issuers) void issuer.prepare()
  return { ...found, ...anonymous }
}

async function configured(
  options: IssuerOptions,
  forbidden: readonly string[],
): Promise<AuthenticationConfig> {
  const [{ issuersOf, readAuthenticationConfig }, { tokenExpressions: compiler }] = await Promise.all([
    import('../../framework/authn/jwt/index.ts'),
    import('../../openapi/expressions/tokenexpressions.ts'),
  ])
  const { authenticationConfig: path } = options
  if (path !== undefined) {
    const yaml = await readFlagFile('--authentication-config', path)
    return usable(path, () => readAuthenticationConfig(yaml, { compiler, forbidden }))
  }
  const { config, algorithms } = await openIdConfig(options)
  const issuers = () => issuersOf([config], { compiler, forbidden, algorithms })
  return usable('What --oidc-* flags say', () => ({ issuers: issuers() }))
}

function usable(what: string, read: () => AuthenticationConfig): AuthenticationConfig {
  try {
    return read()
  } catch (error) {
    throw new StartError(`${what} cannot be used: ${(error as Error).message}.`)
  }
}

/** Whether who has no credentials is let in to a path. */
export const admits = (anonymous: AnonymousConfig | undefined, path: string): boolean =>
  anonymous === undefined ||
  (anonymous.enabled && (anonymous.conditions?.some(condition => condition.path === path) ?? true))
