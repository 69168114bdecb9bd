import { LRUCache } from 'lru-cache'
import { sha256 } from './token.ts'

/** The result of authenticating a token, and its expiry. */
export interface TokenVerdict<T> {
  readonly value: T
  /** Milliseconds since the epoch. */
  readonly expires: number
}

/** A cache of results by the SHA-256 of the token: tokens are not kept in memory. */
export interface TokenVerdicts<T extends object> {
  /** The cached result, or that of `judge`, which runs once for all that wait. Failures are not cached. */
  of(token: string, judge: () => Promise<TokenVerdict<T>>): Promise<T>
}

const remembered = 10_000
/** Characters of all results of one cache, and of one result: a tenant can make tokens with megabytes of groups or audiences. */
const mostTogether = 32 * 1024 * 1024
const mostOfOne = 64 * 1024

/** `longest`: milliseconds after which a result expires, also if the token is still valid. */
export function createVerdicts<T extends object>(longest: number): TokenVerdicts<T> {
  const known = new LRUCache<string, T>({
    max: remembered,
    maxSize: mostTogether,
    maxEntrySize: mostOfOne,
    ttlAutopurge: false,
    sizeCalculation: value => JSON.stringify(value).length,
  })
  const asked = new Map<string, Promise<T>>()
  const ask = async (key: string, judge: () => Promise<TokenVerdict<T>>): Promise<T> => {
    const { value, expires } = await judge()
    const ttl = Math.floor(Math.min(longest, expires - Date.now()))
    if (ttl > 0) known.set(key, value, { ttl })
    return value
  }
  return {
    of(token, judge) {
      const key = sha256(token).toString('latin1')
      const found = known.get(key)
      if (found !== undefined) return Promise.resolve(found)
      const pending = asked.get(key) ?? ask(key, judge).finally(() => asked.delete(key))
      asked.set(key, pending)
      return pending
    },
  }
}
