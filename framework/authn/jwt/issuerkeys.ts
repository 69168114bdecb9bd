import type { JWK, JWTVerifyGetKey } from 'jose'
import { LRUCache } from 'lru-cache'
import type { AddressPolicy } from '../../net/addresspolicy.ts'
import { type FetchOptions, fetchJson } from '../httpsjson.ts'
import { isObject } from '../jwt.ts'
import { TokenError } from '../token.ts'
import type { IssuerConfig } from './config.ts'
import { onceAtATime } from './failures.ts'
import { lengthOfKeys, publicKeysIn } from './keyset.ts'

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
  /** Minimum milliseconds between two requests for unknown keys, and after a request that failed; default: 10,000. */
  readonly cooldown?: number
  /** The keys of several issuers; default: of this one. */
  readonly kept?: KeptKeys
}

interface KeySet {
  readonly keys: readonly JWK[]
  /** From `performance.now()`. */
  readonly at: number
}

/** Keys by issuer: those that were not used for longest are fetched again when they are needed. */
export type KeptKeys = LRUCache<object, KeySet>

/** Characters of the keys of all issuers together: one can have 200,000. */
const mostCharacters = 64 * 1024 * 1024

export const keptKeys = (): KeptKeys => new LRUCache({ maxSize: mostCharacters })

/** Milliseconds after which keys are fetched again, so that revoked keys expire. */
const longest = 10 * 60 * 1000

export function issuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { issuer, addresses, cooldown = 10_000, kept = keptKeys() } = options
  const ca = issuer.certificateAuthority
  const how: FetchOptions = { ...(ca && { ca }), ...(addresses && { addresses }) }
  const discovered = onceAtATime(cooldown, () => discover(issuer, how))
  let place: string | undefined
  const id = {}
  const fetched = onceAtATime(cooldown, async () => {
    const keys = publicKeysIn(await fetchJson(place ?? '', how))
    const found = { keys, at: performance.now() }
    kept.set(id, found, { size: lengthOfKeys(keys) + 1 })
    return found
  })
  const youngerThan = async (age: number): Promise<readonly JWK[]> => {
    const known = kept.get(id)
    return (known && performance.now() - known.at < age ? known : await fetched()).keys
  }
  const getKey: JWTVerifyGetKey = async (...head) => {
    try {
      return await keyAmong(await youngerThan(longest), head)
    } catch (error) {
      if ((error as { readonly code?: string }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error
      return keyAmong(await youngerThan(cooldown), head)
    }
  }
  return {
    async keys() {
      try {
        place ??= await discovered()
      } catch (error) {
        throw new TokenError(`oidc: authenticator not initialized: ${(error as Error).message}`)
      }
      return getKey
    },
  }
}

/** Imported again for each token: the results of tokens are cached, and imported keys take more memory. */
async function keyAmong(
  keys: readonly JWK[],
  [header, token]: Parameters<JWTVerifyGetKey>,
): Promise<Awaited<ReturnType<JWTVerifyGetKey>>> {
  const { createLocalJWKSet } = await import('jose')
  const named = keys.filter(({ kid }) => header.kid === undefined || kid === header.kid)
  return createLocalJWKSet({ keys: named })(header, token)
}

/** Characters of the URL of the keys. */
const longestPlace = 8 * 1024

/** The URL of the keys of an issuer. */
async function discover({ url, discoveryURL }: IssuerConfig, how: FetchOptions): Promise<string> {
  const place = discoveryURL || `${url.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = await fetchJson(place, how)
  const { issuer, jwks_uri: keys } = isObject(document) ? document : {}
  if (issuer !== url) throw new Error(`issuer mismatch: the configuration has ${shown(issuer)}`)
  if (typeof keys !== 'string' || keys.length > longestPlace || !URL.canParse(keys))
    throw new Error('the configuration has no valid jwks_uri')
  return keys
}

const shown = (issuer: unknown): string =>
  typeof issuer === 'string' ? JSON.stringify(issuer) : typeof issuer
