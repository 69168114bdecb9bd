import assert from 'node:assert/strict'
import { turn } from '../framework/async/awaitable.ts'
import { StatusError } from '../framework/meta/errors.ts'
import { Races } from './races.ts'

const key = { cluster: 'one', namespace: 'default', name: 'a' }
const always = (): boolean => true
const lost = (): StatusError => new StatusError(409, 'Conflict', 'the object has been modified')

/** One object, whose writes are refused when somebody else has written since they have looked at it. */
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

describe('writes of one object that come between each other', () => {
  it('lose once each at most', async () => {
    const { seen, write } = oneObject()
    const races = new Races()
    await Promise.all(Array.from({ length: 100 }, () => races.run(write)))
    assert.deepEqual(seen, { version: 100, losses: 99 })
  })

  it('wait for none of another object, and not for one that has failed', async () => {
    const races = new Races()
    const failing = { ...oneObject().write, attempt: () => Promise.reject(lost()) }
    let calls = 0
    const held = races.run({
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
      await Promise.all([races.run({ ...write, key: other }), races.run({ ...write, key: other })])
    void held
    const refused = {
      ...failing,
      key: { ...key, name: 'c' },
      attempt: failOnce(new StatusError(403, 'Forbidden', 'no')),
    }
    const next = oneObject().write
    const [first, ...rest] = await Promise.allSettled([
      races.run(refused),
      ...[1, 2, 3].map(() => races.run({ ...next, key: refused.key })),
    ])
    assert.deepEqual(
      [first?.status, ...rest.map(({ status }) => status)],
      ['rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    )
  })

  it('are refused when they lose to others all the time, or may not be done again', async () => {
    let attempts = 0
    const attempt = async (): Promise<never> => {
      attempts++
      throw lost()
    }
    await assert.rejects(new Races().run({ key, attempt, mayRetry: always }), { code: 409 })
    assert.equal(attempts, 16)
    await assert.rejects(new Races().run({ key, attempt, mayRetry: () => false }), { code: 409 })
    assert.equal(attempts, 17)
  })
})

/** Loses the first time, and is refused with this the second. */
function failOnce(error: StatusError): () => Promise<never> {
  let calls = 0
  return async () => {
    throw calls++ === 0 ? lost() : error
  }
}
