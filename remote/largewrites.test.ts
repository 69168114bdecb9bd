import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { KubeObject } from '../framework/meta/object.ts'
import { testContext } from '../test/support/context.ts'
import { turnsDuring } from '../test/support/time/during.ts'
import type { ShardAnswer, ShardConnection, ShardRequest } from './connection/connection.ts'
import { remoteStorage } from './storage.ts'

const ref = { group: '', version: 'v1', resource: 'configmaps' }
const key = { cluster: 'one', namespace: 'default', name: 'a' }
const options = { dryRun: false, fieldManager: 'me' }

const small = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, resourceVersion: '7', uid: 'u' } }

/** A shard that answers each request with the same object. */
function shard(object: object): { readonly bodies: string[]; readonly connection: ShardConnection } {
  const bodies: string[] = []
  const ask = async ({ body }: ShardRequest): Promise<ShardAnswer> => {
    if (body !== undefined) bodies.push(body.toString())
    const bytes = Buffer.from(JSON.stringify(object))
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
      const { bodies, connection } = shard(small)
      const turns = await turnsDuring(write(connection))
      assert.ok(turns > 8, `${turns} turns`)
      assert.deepEqual(JSON.parse(bodies.at(-1) ?? '').data, data)
    })
})

describe('a large object of a shard', () => {
  const data = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, { a: '' }]))
  const large = { ...small, data, count: 1 }

  for (const [verb, write] of Object.entries({
    changed: (connection: ShardConnection, see: (object: KubeObject) => void) =>
      remoteStorage(connection, ref).update(
        testContext(),
        key,
        ({ object }) => {
          see(object)
          return small
        },
        options,
      ),
    deleted: (connection: ShardConnection, see: (object: KubeObject) => void) =>
      remoteStorage(connection, ref).delete(testContext(), key, ({ object }) => see(object), options),
  }))
    it(`is decoded between other requests when it is ${verb}`, async () => {
      const seen: KubeObject[] = []
      const turns = await turnsDuring(write(shard(large).connection, object => seen.push(object)))
      assert.ok(turns > 8, `${turns} turns`)
      assert.deepEqual(seen, [large])
    })
})
