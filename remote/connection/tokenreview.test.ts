import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { reviewsAFewOfEachSource } from '../../framework/authn/testing/unknowntokens.ts'
import type { ShardAnswer, ShardConnection } from './connection.ts'
import { tokenReviews } from './tokenreview.ts'

const answered = (status: object): ShardAnswer =>
  ({ statusCode: 201, headers: {}, body: Readable.from([Buffer.from(JSON.stringify({ status }))]) }) as never

/** A reader whose shard answers with this status; undefined: it does not answer. */
function reviewer(status: object | undefined) {
  const asked: string[] = []
  const ask: ShardConnection['ask'] = ({ body }) => {
    asked.push(String(body))
    return status === undefined ? new Promise(() => undefined) : Promise.resolve(answered(status))
  }
  return { asked, read: tokenReviews({ ask } as ShardConnection) }
}

describe('tokens that the shard reviews', () => {
  it('are reviewed once for a while, also rejected ones', async () => {
    const good = reviewer({ authenticated: true, user: { username: 'ann', groups: [] } })
    for (let i = 0; i < 3; i++) assert.equal((await good.read('t', {}))?.user.name, 'ann')
    assert.equal(good.asked.length, 1)
    const bad = reviewer({ error: 'unknown' })
    for (let i = 0; i < 3; i++)
      await assert.rejects(async () => bad.read('t', {}), { name: 'TokenError', message: 'unknown' })
    assert.equal(bad.asked.length, 1)
  })

  it('that are unknown are reviewed a few at a time for each source', async () => {
    const { asked, read } = reviewer(undefined)
    await reviewsAFewOfEachSource(read, asked)
  })
})
