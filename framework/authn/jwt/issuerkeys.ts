import type { JWTVerifyGetKey, RemoteJWKSetOptions } from 'jose'
import type { AddressPolicy } from '../../net/addresspolicy.ts'
import { type FetchOptions, fetchJson } from '../httpsjson.ts'
import { isObject } from '../jwt.ts'
import { TokenError } from '../token.ts'
import type { IssuerConfig } from './config.ts'

/** The public keys of an issuer, found by OpenID discovery and kept. */
export interface IssuerKeys {
  /** Waits for the issuer once; throws `TokenError` when it cannot be reached or is not what it should be. */
  keys(): Promise<JWTVerifyGetKey>
}

export interface IssuerKeysOptions {
  readonly issuer: IssuerConfig
  /** Where it may be; anywhere when absent. */
  readonly addresses?: AddressPolicy
  /** Milliseconds between two questions for keys that are not known: default 10,000. */
  readonly cooldown?: number
}

/** After this long the keys are asked for again, so that a withdrawn one is not believed for ever. */
const longest = 10 * 60 * 1000
const patience = 10_000

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

/** Where the keys of an issuer are. */
async function discover({ url, discoveryURL }: IssuerConfig, how: FetchOptions): Promise<string> {
  const place = discoveryURL || `${url.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = await fetchJson(place, how)
  const { issuer, jwks_uri: keys } = isObject(document) ? document : {}
  if (issuer !== url) throw new Error(`the issuer calls itself ${JSON.stringify(issuer)}`)
  if (typeof keys !== 'string' || !URL.canParse(keys)) throw new Error('the issuer names no keys')
  return keys
}

async function remoteKeys(place: string, how: FetchOptions, cooldown: number): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet, customFetch } = await import('jose')
  const options: RemoteJWKSetOptions = {
    cooldownDuration: cooldown,
    cacheMaxAge: longest,
    timeoutDuration: patience,
    [customFetch]: async (url: string) => Response.json(await fetchJson(url, how)),
  }
  return createRemoteJWKSet(new URL(place), options)
}
