import assert from 'node:assert/strict'
import { testContext } from '../test/support/context.ts'
import type { ShardAnswer, ShardConnection } from './connection/connection.ts'
import { remoteStorage } from './storage.ts'
import { EndlessBody, endlessLists, endlessWatches } from './testing/endless.ts'

const ref = { group: '', version: 'v1', resource: 'configmaps' }
const list = { cluster: '*', limit: 0 }
const watch = { cluster: '*', resourceVersion: '1', initialEvents: false, bookmarks: false }

/** A storage at a shard that answers with a body. */
function storageOf(body: EndlessBody) {
  const ask = async (): Promise<ShardAnswer> => ({ statusCode: 200, headers: {}, body }) as never
  return remoteStorage({ ask, send: ask } as unknown as ShardConnection, ref)
}

const end = async (values: AsyncGenerator<Iterable<unknown>, unknown>): Promise<unknown> => {
  let next = await values.next()
  while (!next.done) next = await values.next()
  return next.value
}

/** What a client gets instead, and what was read before. */
async function isRefused(body: EndlessBody, values: AsyncGenerator<Iterable<unknown>, unknown>) {
  await assert.rejects(end(values), { code: 502, message: /has more than \d+ bytes/ })
  assert.ok(body.read < 20 * 1024 * 1024, `${body.read} bytes were read`)
  assert.ok(body.isClosed)
}

describe('a shard that sends without end', () => {
  const ctx = testContext({ cluster: '*' })

  for (const [what, head] of Object.entries(endlessLists))
    it(`ends its list with an error: ${what}`, async () => {
      const body = new EndlessBody(head)
      await isRefused(body, storageOf(body).list(ctx, list))
    })

  for (const [what, head] of Object.entries(endlessWatches))
    it(`ends its watch with an error: ${what}`, async () => {
      const body = new EndlessBody(head)
      await isRefused(body, storageOf(body).watch(ctx, watch))
    })

  it('ends a watch with initial events with an error that is no reason to list again', async () => {
    const body = new EndlessBody(endlessLists['a text between its items'])
    const { resourceVersion: _, ...initial } = { ...watch, initialEvents: true }
    await isRefused(body, storageOf(body).watch(ctx, initial))
  })
})
