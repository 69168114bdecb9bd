import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { StatusError } from '../framework/meta/errors.ts'
import { WriteRetries } from './writeretries.ts'

const key = { cluster: 'one', namespace: 'default', name: 'a' }
const always = (): boolean => true
const lost = (): StatusError => new StatusError(409, 'Conflict', 'the object has been modified')

/** One object whose writes fail with 409 when it was written since it was read. */
function oneObject() {
  const seen = { version: 0, losses: 0 }
  const attempt = async (): Promise<number> => {
    const { version } = seen
    await turn()
    if (version !== seen.version) {
      seen.losses++
      throw lost()
    }
    return ++seen.version
  }
  return { seen, write: { key, attempt, mayRetry: always } }
}

describe('concurrent writes of one object', () => {
  it('conflict at most once each', async () => {
    const { seen, write } = oneObject()
    const retries = new WriteRetries()
    await Promise.all(Array.from({ length: 100 }, () => retries.run(write)))
    assert.deepEqual(seen, { version: 100, losses: 99 })
  })

  it('do not wait for writes of other objects, nor for failed ones', async () => {
    const retries = new WriteRetries()
    const failing = { ...oneObject().write, attempt: () => Promise.reject(lost()) }
    let calls = 0
    const held = retries.run({
      ...failing,
      attempt: () => (calls++ ? new Promise(() => undefined) : failing.attempt()),
    })
    const { write } = oneObject()
    const others = [
      { ...key, name: 'b' },
      { ...key, cluster: 'two' },
      { ...key, namespace: 'other' },
    ]
    for (const other of others)
      await Promise.all([retries.run({ ...write, key: other }), retries.run({ ...write, key: other })])
    void held
    const refused = {
      ...failing,
      key: { ...key, name: 'c' },
      attempt: failOnce(new StatusError(403, 'Forbidden', 'no')),
    }
    const next = oneObject().write
    const [first, ...rest] = await Promise.allSettled([
      retries.run(refused),
      ...[1, 2, 3].map(() => retries.run({ ...next, key: refused.key })),
    ])
    assert.deepEqual(
      [first?.status, ...rest.map(({ status }) => status)],
      ['rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    )
  })

  it('fail when every attempt conflicts, or when they may not be repeated', async () => {
    let attempts = 0
    const attempt = async (): Promise<never> => {
      attempts++
      throw lost()
    }
    await assert.rejects(new WriteRetries().run({ key, attempt, mayRetry: always }), { code: 409 })
    assert.equal(attempts, 16)
    await assert.rejects(new WriteRetries().run({ key, attempt, mayRetry: () => false }), { code: 409 })
    assert.equal(attempts, 17)
  })
})

/** Fails with a conflict the first time, and with `error` the second. */
function failOnce(error: StatusError): () => Promise<never> {
  let calls = 0
  return async () => {
    throw calls++ === 0 ? lost() : error
  }
}
