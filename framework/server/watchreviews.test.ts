import assert from 'node:assert/strict'
import { createLifetime } from '../async/lifetime.ts'
import { TokenError, tokenRefusal } from '../authn/token.ts'
import { forbidden, notServed, serviceUnavailable, unauthorized } from '../meta/errors.ts'
import { WatchReviews } from './watchreviews.ts'

const watchOf = (name: string, review: () => boolean | Promise<boolean>) => ({
  name,
  review,
  lifetime: createLifetime(),
})
type Watch = ReturnType<typeof watchOf>

const throwing = (error: Error) => () => {
  throw error
}

/** Reviews the watches until `isDone`. */
async function reviewed(watches: readonly Watch[], isDone: () => boolean): Promise<readonly string[]> {
  const asked: string[] = []
  await new Promise<void>(resolve => {
    const reviews = new WatchReviews<Watch>(({ name, review }) => {
      asked.push(name)
      if (isDone()) resolve()
      return review()
    }, 1)
    for (const watch of watches) reviews.follow(watch)
  })
  return asked
}

describe('reviews of open watches', () => {
  it('end those that would be refused', async () => {
    const watches = [
      ...[unauthorized(), forbidden(undefined, 'no'), notServed()].map((error, i) =>
        watchOf(`refused-${i}`, throwing(error)),
      ),
      watchOf('changed', () => false),
    ]
    const other = watchOf('other', () => true)
    await reviewed([...watches, other], () => watches.every(({ lifetime }) => lifetime.ended === 'replaced'))
    assert.equal(other.lifetime.ended, undefined)
  })

  it('keep those whose review failed', async () => {
    let rounds = 0
    const noAnswer = tokenRefusal(new TokenError('token webhook failed: timeout', true))
    const watches = [serviceUnavailable('later'), new Error('broken'), noAnswer].map((error, i) =>
      watchOf(`failing-${i}`, throwing(error)),
    )
    await reviewed(watches, () => ++rounds > 10)
    assert.ok(watches.every(({ lifetime }) => lifetime.ended === undefined))
  })

  it('end those that would be refused while many others hang', async () => {
    const hanging = Array.from({ length: 20 }, (_, i) => watchOf(`${i}`, () => new Promise(() => undefined)))
    const last = watchOf('last', () => false)
    let asked = 0
    await reviewed([...hanging, last, watchOf('other', () => true)], () => {
      asked++
      return last.lifetime.ended === 'replaced'
    })
    assert.ok(asked < 2 * hanging.length, 'a review that hangs is not repeated')
  })

  it('leave out those that have ended', async () => {
    const [ended, open] = [watchOf('ended', () => true), watchOf('open', () => true)]
    ended.lifetime.end('client gone')
    let rounds = 0
    assert.ok(!(await reviewed([ended, open], () => ++rounds > 3)).includes('ended'))
  })

  it('forget those that are complete at once, because a client can open and close many', () => {
    const reviews = new WatchReviews<Watch>(() => true)
    const watches = Array.from({ length: 3 }, (_, i) => watchOf(`${i}`, () => true))
    for (const watch of watches) reviews.follow(watch)
    for (const { lifetime } of watches) lifetime.dispose()
    assert.equal(reviews.size, 0)
  })
})
