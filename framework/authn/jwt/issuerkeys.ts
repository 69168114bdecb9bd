import type { JWK, JWTVerifyGetKey } from 'jose'
import { LRUCache } from 'lru-cache'
import type { AddressPolicy } from '../../net/addresspolicy.ts'
import { type FetchOptions, fetchJson } from '../httpsjson.ts'
import { isObject } from '../jwt.ts'
import { TokenError } from '../token.ts'
import type { IssuerConfig } from './config.ts'
import { onceAtATime, passOn } from './failures.ts'
import { lengthOfKeys, publicKeysIn } from './keyset.ts'

/** The public keys of an issuer, from OpenID discovery, cached. */
export interface IssuerKeys {
  /**
   * Discovers the keys on first use. Throws `TokenError` if the issuer is unreachable or its configuration is invalid, and what
   * `InSeat` throws. `source`: see `TokenUse`.
   */
  keys(source: string): Promise<JWTVerifyGetKey>
}

/** Requests an issuer when the source has a seat for it. Throws 429 if there is none. */
export type InSeat = <T>(source: string, work: () => Promise<T>) => Promise<T>

export interface IssuerKeysOptions {
  readonly issuer: IssuerConfig
  /** Where it may be; anywhere when absent. */
  readonly addresses?: AddressPolicy
  /** Minimum milliseconds between two requests for unknown keys, and after a request that failed; default: 10,000. */
  readonly cooldown?: number
  /** The keys of several issuers; default: of this one. */
  readonly kept?: KeptKeys
  /** Default: at once. */
  readonly inSeat?: InSeat
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
  const { issuer, addresses, cooldown = 10_000, kept = keptKeys(), inSeat = atOnce } = options
  const ca = issuer.certificateAuthority
  const how: FetchOptions = { ...(ca && { ca }), ...(addresses && { addresses }) }
  const discovered = onceAtATime(cooldown, (source: string) => inSeat(source, () => discover(issuer, how)))
  let place: string | undefined
  const id = {}
  const fetched = onceAtATime(cooldown, async (source: string) => {
    const keys = publicKeysIn(await inSeat(source, () => fetchJson(place ?? '', how)))
    const found = { keys, at: performance.now() }
    kept.set(id, found, { size: lengthOfKeys(keys) + 1 })
    return found
  })
  const youngerThan = async (age: number, source: string): Promise<readonly JWK[]> => {
    const known = kept.get(id)
    return (known && performance.now() - known.at < age ? known : await fetched(source)).keys
  }
  const getKey = async (source: string, head: Parameters<JWTVerifyGetKey>): Promise<Key> => {
    try {
      return await keyAmong(await youngerThan(longest, source), head)
    } catch (error) {
      if ((error as { readonly code?: string }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error
      return keyAmong(await youngerThan(cooldown, source), head)
    }
  }
  return {
    async keys(source) {
      place ??= await discovered(source).catch(notInitialized)
      return (...head) => getKey(source, head)
    },
  }
}

const atOnce: InSeat = (_source, work) => work()

function notInitialized(error: Error): never {
  passOn(error)
  throw new TokenError(`oidc: authenticator not initialized: ${error.message}`)
}

type Key = Awaited<ReturnType<JWTVerifyGetKey>>

/** Imported again for each token: the results of tokens are cached, and imported keys take more memory. */
async function keyAmong(keys: readonly JWK[], [header, token]: Parameters<JWTVerifyGetKey>): Promise<Key> {
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
