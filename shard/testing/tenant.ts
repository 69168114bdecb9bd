import assert from 'node:assert/strict'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { WriteOptions } from '../../framework/contract/storage.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { type TestShard, testShard } from './shard.ts'

const cluster = 'c1'
const alice = { name: 'alice', groups: [] }

/** A user of one logical cluster with a namespace `default`; admission applies to its writes. */
export interface TestTenant {
  readonly shard: TestShard
  /** Creates an object; rejects with the error of the request. */
  put(ref: ResourceRef, object: KubeObject, options?: Partial<WriteOptions>): Promise<KubeObject>
  remove(ref: ResourceRef, name: string): Promise<unknown>
  /** Audit annotations of writes, by key. */
  readonly notes: Map<string, string>
}

export async function testTenant(overrides?: Parameters<typeof testShard>[0]): Promise<TestTenant> {
  const shard = await testShard(overrides)
  const notes = new Map<string, string>()
  await shard.addCluster(cluster)
  const namespaces: ResourceRef = { group: '', version: 'v1', resource: 'namespaces' }
  const metadata = { name: 'default' }
  await shard.client.create(
    namespaces,
    { cluster, namespace: '', name: 'default' },
    { apiVersion: 'v1', kind: 'Namespace', metadata },
  )
  const contextOf = (ref: ResourceRef) => {
    const ctx = shard.context(ref, cluster)
    const annotate = (key: string, value: string) => void notes.set(key, value)
    return { ...ctx, user: alice, actAs: alice, record: { ...ctx.record, annotate } }
  }
  return {
    shard,
    notes,
    async put(ref, object, options) {
      const { name = '', namespace = '' } = object.metadata
      const served = shard.backend.apis(cluster)?.find(ref.group, ref.version, ref.resource)
      assert.ok(served)
      const { object: decoded } = served.schema.decode(object)
      const key = { cluster, namespace, name }
      const write = { dryRun: false, fieldManager: 'test', ...options }
      return (await shard.backend.storage(ref).create(contextOf(ref), key, decoded, write)).object
    },
    remove: (ref, name) =>
      shard.backend
        .storage(ref)
        .delete(contextOf(ref), { cluster, namespace: 'default', name }, () => undefined, { dryRun: false }),
  }
}

export const configMaps: ResourceRef = { group: '', version: 'v1', resource: 'configmaps' }

export const configMap = (name: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  ...more,
})

/** The error with which an action is refused. */
export async function refusal(action: Promise<unknown>): Promise<StatusError['status']> {
  const error = await action.then(
    () => undefined,
    reason => reason,
  )
  assert.ok(error instanceof StatusError, String(error))
  return error.status
}
