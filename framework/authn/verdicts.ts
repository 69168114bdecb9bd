import { LRUCache } from 'lru-cache'
import { sha256 } from './sha256.ts'

/** What was found out about a token, and how long that holds. */
export interface TokenVerdict<T> {
  readonly value: T
  /** Milliseconds since the epoch. */
  readonly expires: number
}

/** Remembers what was found out about tokens by their SHA-256, so that none stays in memory in clear. */
export interface TokenVerdicts<T extends object> {
  /** What is known, or what `judge` finds out: asked once for all who wait. A failure is not remembered. */
  of(token: string, judge: () => Promise<TokenVerdict<T>>): Promise<T>
}

const remembered = 10_000

/** `longest`: milliseconds after which a verdict is found again, however long the token is good. */
export function createVerdicts<T extends object>(longest: number): TokenVerdicts<T> {
  const known = new LRUCache<string, T>({ max: remembered, ttlAutopurge: false })
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
