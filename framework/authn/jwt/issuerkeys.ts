import type { JWTVerifyGetKey, RemoteJWKSetOptions } from 'jose'
import type { AddressPolicy } from '../../net/addresspolicy.ts'
import { type FetchOptions, fetchJson } from '../httpsjson.ts'
import { isObject } from '../jwt.ts'
import { TokenError } from '../token.ts'
import type { IssuerConfig } from './config.ts'

/** The public keys of an issuer, from OpenID discovery, cached. */
export interface IssuerKeys {
  /**
   * Discovers the keys on first use. Throws `TokenError` if the issuer is unreachable or its configuration is invalid.
   */
  keys(): Promise<JWTVerifyGetKey>
}

export interface IssuerKeysOptions {
  readonly issuer: IssuerConfig
  /** Where it may be; anywhere when absent. */
  readonly addresses?: AddressPolicy
  /** Minimum milliseconds between two requests for unknown keys; default: 10,000. */
  readonly cooldown?: number
}

/** Milliseconds after which keys are fetched again, so that revoked keys expire. */
const longest = 10 * 60 * 1000
const timeout = 10_000

export function issuerKeys({ issuer, addresses, cooldown = 10_000 }: IssuerKeysOptions): IssuerKeys {
  const ca = issuer.certificateAuthority
  const how: FetchOptions = { ...(ca && { ca }), ...(addresses && { addresses }) }
  let found: Promise<JWTVerifyGetKey> | undefined
  let failedAt = Number.NEGATIVE_INFINITY
  const find = async (): Promise<JWTVerifyGetKey> => {
    try {
      return await remoteKeys(await discover(issuer, how), how, cooldown)
    } catch (error) {
      failedAt = performance.now()
      found = undefined
      throw new TokenError(`oidc: authenticator not initialized: ${(error as Error).message}`)
    }
  }
  return {
    async keys() {
      if (found === undefined && performance.now() - failedAt < cooldown)
        throw new TokenError('oidc: authenticator not initialized')
      found ??= find()
      return found
    },
  }
}

/** The URL of the keys of an issuer. */
async function discover({ url, discoveryURL }: IssuerConfig, how: FetchOptions): Promise<string> {
  const place = discoveryURL || `${url.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = await fetchJson(place, how)
  const { issuer, jwks_uri: keys } = isObject(document) ? document : {}
  if (issuer !== url) throw new Error(`issuer mismatch: the configuration has ${JSON.stringify(issuer)}`)
  if (typeof keys !== 'string' || !URL.canParse(keys))
    throw new Error('the configuration has no valid jwks_uri')
  return keys
}

async function remoteKeys(place: string, how: FetchOptions, cooldown: number): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet, customFetch } = await import('jose')
  const options: RemoteJWKSetOptions = {
    cooldownDuration: cooldown,
    cacheMaxAge: longest,
    timeoutDuration: timeout,
    [customFetch]: async (url: string) => Response.json(await fetchJson(url, how)),
  }
  return createRemoteJWKSet(new URL(place), options)
}
