import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { testContext } from '../test/support/context.ts'
import type { ShardAnswer, ShardConnection, ShardRequest } from './connection/connection.ts'
import { remoteStorage } from './storage.ts'

const ref = { group: '', version: 'v1', resource: 'configmaps' }
const key = { cluster: 'one', namespace: 'default', name: 'a' }
const options = { dryRun: false, fieldManager: 'me' }

/** A shard that answers each request with the same small object. */
function shard(): { readonly bodies: string[]; readonly connection: ShardConnection } {
  const bodies: string[] = []
  const ask = async ({ body }: ShardRequest): Promise<ShardAnswer> => {
    if (body !== undefined) bodies.push(body.toString())
    const metadata = { name: 'a', namespace: 'default', resourceVersion: '7' }
    const bytes = Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata }))
    return { statusCode: 200, headers: {}, body: Readable.from([bytes]) } as unknown as ShardAnswer
  }
  return { bodies, connection: { ask, send: ask } as unknown as ShardConnection }
}

describe('a large object for a shard', () => {
  const data = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, { a: '' }]))
  const large = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data }

  for (const [verb, write] of Object.entries({
    created: (connection: ShardConnection) =>
      remoteStorage(connection, ref).create(testContext(), key, large, options),
    replaced: (connection: ShardConnection) =>
      remoteStorage(connection, ref).update(testContext(), key, () => large, options),
  }))
    it(`is encoded between other requests when it is ${verb}`, async () => {
      const { bodies, connection } = shard()
      let [turns, isOver] = [0, false]
      const count = (): void => {
        turns++
        if (!isOver) setImmediate(count)
      }
      setImmediate(count)
      await write(connection)
      isOver = true
      assert.ok(turns > 8, `${turns} turns`)
      assert.deepEqual(JSON.parse(bodies.at(-1) ?? '').data, data)
    })
})
