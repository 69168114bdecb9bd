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
  keys(source: string): Promise<KnownKeys>
}

/** The keys of an issuer at one time. */
export interface KnownKeys {
  readonly keyOf: JWTVerifyGetKey
  /**
   * Those that it has now; undefined if these were fetched a moment ago. Issuers may sign with a new key under the ID of an old one, or
   * without an ID. Throws an `Error` if the issuer is unreachable, and what `InSeat` throws.
   */
  newer(): Promise<KnownKeys | undefined>
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

/** Milliseconds after which keys are fetched again, so that revoked keys expire. Without an answer they stay, as in Kubernetes. */
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
  const sets = keySets({ known: () => kept.get(id), fetched, cooldown })
  return {
    async keys(source) {
      place ??= await discovered(source).catch(notInitialized)
      return knownKeys(sets, source)
    },
  }
}

interface KeySets {
  /** The set that is in use. */
  current(source: string): Promise<KeySet>
  /** One that was fetched a moment ago. */
  recent(source: string): Promise<KeySet>
}

interface KeySetsOptions {
  readonly known: () => KeySet | undefined
  readonly fetched: (source: string) => Promise<KeySet>
  readonly cooldown: number
}

function keySets({ known, fetched, cooldown }: KeySetsOptions): KeySets {
  const youngerThan = (age: number): KeySet | undefined => {
    const set = known()
    return set !== undefined && performance.now() - set.at < age ? set : undefined
  }
  return {
    recent: async source => youngerThan(cooldown) ?? fetched(source),
    current: async source =>
      youngerThan(longest) ??
      fetched(source).catch((error: unknown) => {
        passOn(error)
        const set = known()
        if (set === undefined) throw error
        return set
      }),
  }
}

function knownKeys(sets: KeySets, source: string, set?: KeySet): KnownKeys {
  let used = set
  return {
    async keyOf(...head) {
      used ??= await sets.current(source)
      return keyAmong(used.keys, head)
    },
    async newer() {
      const next = await sets.recent(source)
      return next === used ? undefined : knownKeys(sets, source, next)
    },
  }
}

const atOnce: InSeat = (_source, work) => work()

function notInitialized(error: Error): never {
  passOn(error)
  throw new TokenError(`oidc: authenticator not initialized: ${error.message}`, true)
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
