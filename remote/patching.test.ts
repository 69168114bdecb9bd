import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { Change, ResourceStorage, SentPatch } from '../framework/contract/storage.ts'
import { viewOf } from '../framework/lens/view.ts'
import { StatusError } from '../framework/meta/errors.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import { testContext } from '../test/support/context.ts'
import type { ShardAnswer, ShardConnection, ShardRequest } from './connection/connection.ts'
import { remoteStorage } from './storage.ts'

const ref = { group: '', version: 'v1', resource: 'configmaps' }
const key = { cluster: 'one', namespace: 'default', name: 'a' }
const merge = 'application/merge-patch+json'

/** A shard with one object that has an unknown field. Records writes, and answers the first `losses` with 409. */
function oneObject(losses = 0) {
  const written: { method: string; type: unknown; body: unknown }[] = []
  let version = 7
  const answer = async ({ method, headers = {}, body = '' }: ShardRequest): Promise<ShardAnswer> => {
    if (method !== 'GET')
      written.push({ method, type: headers['content-type'], body: JSON.parse(body.toString()) })
    if (method !== 'GET' && written.length <= losses) {
      version++
      throw new StatusError(409, 'Conflict', 'the object has been modified')
    }
    const metadata = { name: 'a', namespace: 'default', resourceVersion: String(version), annotations: {} }
    const bytes = Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, novelty: 1 }))
    return {
      statusCode: 200,
      headers: {},
      body: Readable.from([bytes]),
    } as unknown as ShardAnswer
  }
  const connection = { ask: answer, send: answer } as unknown as ShardConnection
  return { written, storage: remoteStorage(connection, ref) }
}

const change: Change = ({ object: { metadata, ...others } }) => {
  const { resourceVersion: _, ...rest } = metadata
  return { ...others, metadata: rest, data: { x: '1' } }
}

function update(storage: ResourceStorage, type: string, body: unknown, more: Partial<SentPatch> = {}) {
  const patch = { type, body: () => body, ...more }
  return storage.update(testContext(), key, change, { dryRun: false, fieldManager: 'me', patch })
}

describe('patches of objects of a shard', () => {
  it('are forwarded unchanged, with the resourceVersion that was read', async () => {
    const { storage, written } = oneObject()
    await update(storage, merge, { data: { x: '1' } })
    await update(storage, merge, { metadata: { labels: { a: 'b' } } })
    await update(storage, 'application/strategic-merge-patch+json', { data: { $patch: 'replace' } })
    await update(storage, 'application/json-patch+json', [{ op: 'remove', path: '/data' }])
    const lock = { resourceVersion: '7' }
    assert.deepEqual(
      written.map(({ body }) => body),
      [
        { data: { x: '1' }, metadata: lock },
        { metadata: { labels: { a: 'b' }, ...lock } },
        { data: { $patch: 'replace' }, metadata: lock },
        [
          { op: 'remove', path: '/data' },
          { op: 'add', path: '/metadata/resourceVersion', value: '7' },
        ],
      ],
    )
    assert.deepEqual(
      written.map(({ method, type }) => `${method} ${type}`),
      [
        `PATCH ${merge}`,
        `PATCH ${merge}`,
        'PATCH application/strategic-merge-patch+json',
        'PATCH application/json-patch+json',
      ],
    )
  })

  it('are sent again with the next resourceVersion after a conflict', async () => {
    const { storage, written } = oneObject(2)
    await update(storage, merge, null)
    assert.deepEqual(
      written.map(({ body }) => body),
      ['7', '8', '9'].map(resourceVersion => ({ metadata: { resourceVersion } })),
    )
  })

  it('keep their own resourceVersion, and are not sent again', async () => {
    const { storage, written } = oneObject(1)
    const at3: Change = ({ object }) => ({
      ...object,
      metadata: { ...object.metadata, resourceVersion: '3' },
    })
    const body = { metadata: { resourceVersion: '3' } }
    const patch = { type: merge, body: () => body }
    await assert.rejects(
      storage.update(testContext(), key, at3, { dryRun: false, fieldManager: 'me', patch }),
      { code: 409 },
    )
    assert.deepEqual(
      written.map(each => each.body),
      [body],
    )
  })

  const replacement = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'default', resourceVersion: '7' },
    novelty: 1,
    data: { x: '1' },
  }

  it('become a PUT when admission changed the result', async () => {
    const { storage, written } = oneObject()
    await update(storage, merge, undefined)
    assert.deepEqual(written, [{ method: 'PUT', type: 'application/json', body: replacement }])
  })

  it('become a PUT behind a lens that changes writes', async () => {
    const { storage, written } = oneObject()
    const accept = (object: KubeObject): KubeObject => object
    await update(
      viewOf(storage, () => ({ accept })),
      merge,
      { data: { x: '1' } },
    )
    assert.deepEqual(
      written.map(({ method }) => method),
      ['PUT'],
    )
  })
})
