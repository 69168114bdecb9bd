import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import type { BearerTokenReader } from '../token.ts'

/** Sends many unknown tokens of one source, whose reviews do not end: a few are reviewed, and one of another source is. */
export async function reviewsAFewOfEachSource(
  read: BearerTokenReader,
  asked: readonly unknown[],
): Promise<void> {
  const send = (token: string, source: string): void =>
    void Promise.resolve(read(token, { source })).catch(() => undefined)
  for (let i = 0; i < 500; i++) send(`t${i}`, 'a')
  await setImmediate()
  const some = asked.length
  assert.ok(some < 100, `${some} reviews`)
  send('other', 'b')
  await setImmediate()
  assert.equal(asked.length, some + 1)
}
