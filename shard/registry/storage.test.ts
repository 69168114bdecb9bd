import assert from 'node:assert/strict'
import { promised } from '../../framework/async/awaitable.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Change, DeleteOptions } from '../../framework/contract/storage.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import { applyType } from '../../framework/wire/parsebody.ts'
import { type TestShard, testShard } from '../testing/shard.ts'

const configMaps: ResourceRef = { group: '', version: 'v1', resource: 'configmaps' }
const namespaces: ResourceRef = { group: '', version: 'v1', resource: 'namespaces' }
const options = { dryRun: false, fieldManager: 'test' }
const cluster = 'c1'
const keyOf = (name: string): ObjectKey => ({ cluster, namespace: 'default', name })
const configMap = (name: string, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  ...rest,
})

async function refusal(action: Promise<unknown>): Promise<StatusError['status']> {
  const error = await action.then(
    () => undefined,
    reason => reason,
  )
  assert.ok(error instanceof StatusError, String(error))
  return error.status
}

describe('storage of the embedded shard', () => {
  let shard: TestShard
  const storage = (ref: ResourceRef = configMaps) => shard.backend.storage(ref)
  const ctx = () => shard.context(configMaps, cluster)
  const create = (object: KubeObject, more = {}) =>
    storage().create(ctx(), keyOf(object.metadata.name ?? ''), object, { ...options, ...more })
  const update = (name: string, change: Change, more = {}) =>
    storage().update(ctx(), keyOf(name), change, { ...options, ...more })
  const remove = (name: string, more: Partial<DeleteOptions> = {}) =>
    storage().delete(ctx(), keyOf(name), () => undefined, { dryRun: false, ...more })

  before(async () => {
    shard = await testShard()
    const key = { cluster, namespace: '', name: 'default' }
    await shard.client.create(namespaces, key, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'default' },
    })
  })
  after(() => shard.stop())

  it('returns a written object without decoding it, equal to its bytes', async () => {
    const { bytes, object } = await create(
      configMap('known', { data: { b: '1', a: 'ü' }, immutable: undefined }),
    )
    assert.equal(JSON.stringify(object), bytes.toString())
    const changed = await update('known', ({ object: old }) => ({ ...old, data: { a: '2' } }))
    assert.equal(JSON.stringify(changed.object), changed.bytes.toString())
    assert.equal((await storage().get(ctx(), keyOf('known'))).object, changed.object)
  })

  it('reads written objects, with the annotation of the cluster', async () => {
    const made = await create(configMap('read', { data: { a: '1' } }))
    const found = await storage().get(ctx(), keyOf('read'))
    assert.equal(found.meta.resourceVersion, made.meta.resourceVersion)
    assert.deepEqual(JSON.parse(found.bytes.toString()), made.object)
    assert.equal(found.object.metadata.annotations?.['kcp.io/cluster'], cluster)
    assert.equal('generation' in found.object.metadata, false)
  })

  it('refuses a second object of the same name, and a version on a new one', async () => {
    await create(configMap('twice'))
    const status = await refusal(create(configMap('twice')))
    assert.equal(status.message, 'configmaps "twice" already exists')
    const versioned = { ...configMap('x'), metadata: { name: 'x', resourceVersion: '1' } }
    assert.equal(
      (await refusal(create(versioned))).message,
      'resourceVersion should not be set on objects to be created',
    )
  })

  it('refuses a second object only when reads find the first', async () => {
    const created = async (name: string): Promise<boolean> => {
      const error = await create(configMap(name)).then(
        () => undefined,
        (error: Error) => error,
      )
      assert.equal((await storage().get(ctx(), keyOf(name))).key.name, name)
      assert.match(error?.message ?? '', error === undefined ? /^$/ : /already exists/)
      return error === undefined
    }
    for (let i = 0; i < 20; i++) {
      const outcomes = await Promise.all([created(`raced-${i}`), created(`raced-${i}`)])
      assert.equal(outcomes.filter(Boolean).length, 1)
    }
  })

  it('drops managedFields for size, but not those of apply (5.60)', async () => {
    const fieldsV1 = { [`f:${'x'.repeat(700_000)}`]: {} }
    const managedFields = [
      { manager: 'a', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 },
    ]
    const large = (name: string, size: number): KubeObject => ({
      ...configMap(name, { data: { a: 'y'.repeat(size) } }),
      metadata: { name, namespace: 'default', managedFields },
    })
    assert.equal((await create(large('owned', 100_000))).object.metadata.managedFields?.length, 1)
    const { object } = await create(large('disowned', 950_000))
    assert.equal(object.metadata.managedFields, undefined)
    const wider = await update('owned', ({ object: old }) => ({ ...old, data: { a: 'y'.repeat(950_000) } }))
    assert.equal(wider.object.metadata.managedFields, undefined)
    const status = await refusal(
      create(large('applied', 950_000), { patch: { type: applyType, body: () => undefined } }),
    )
    assert.deepEqual([status.code, status.message], [500, 'etcdserver: request is too large'])
  })

  it('returns all field errors together', async () => {
    const wrong = { ...configMap('Bad'), metadata: { name: 'Bad', labels: { 'a b': '!' } } }
    const status = await refusal(create(wrong))
    assert.equal(status.code, 422)
    assert.equal(status.details?.kind, 'ConfigMap')
    assert.deepEqual(
      status.details?.causes?.map(cause => cause.field),
      ['metadata.name', 'metadata.labels', 'metadata.labels'],
    )
  })

  it('makes names, and none that is taken', async () => {
    const generated = { ...configMap(''), metadata: { generateName: 'gen-' } }
    const names = new Set<string>()
    for (let i = 0; i < 20; i++) names.add((await create(generated)).key.name)
    assert.equal(names.size, 20)
    for (const name of names) assert.match(name, /^gen-.{5}$/)
    const taken = { ...generated, metadata: { ...generated.metadata, name: [...names][0] ?? '' } }
    const { message, details } = await refusal(create(taken))
    assert.match(message ?? '', /already exists, the server was not able to generate a unique name/)
    assert.equal(details?.retryAfterSeconds, 1)
  })

  it('refuses a missing and a terminating namespace', async () => {
    const otherNamespace = { ...configMap('a'), metadata: { name: 'a', namespace: 'none' } }
    const key = { cluster, namespace: 'none', name: 'a' }
    const missing = await refusal(storage().create(ctx(), key, otherNamespace, options))
    assert.equal(missing.message, 'namespaces "none" not found')
    const name = { cluster, namespace: '', name: 'going' }
    await shard.client.create(namespaces, name, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'going' },
    })
    await shard.client.delete(namespaces, name)
    const going = await refusal(
      storage().create(ctx(), { ...key, namespace: 'going' }, configMap('a'), options),
    )
    assert.equal(
      going.message,
      'configmaps "a" is forbidden: unable to create new content in namespace going because it is being terminated',
    )
    assert.equal(going.details?.causes?.[0]?.reason, 'NamespaceTerminating')
    const bob = { name: 'bob', groups: [] }
    const asBob = { ...ctx(), user: bob, actAs: bob }
    const immortal = await refusal(
      storage(namespaces).delete(asBob, { ...name, name: 'default' }, () => undefined, { dryRun: false }),
    )
    assert.equal(immortal.message, 'namespaces "default" is forbidden: this namespace may not be deleted')
  })

  it('writes nothing when nothing changes', async () => {
    const made = await create(configMap('same', { data: { a: '1' } }))
    const { revision } = shard.store
    const again = await update('same', current => ({ ...current.object, data: { a: '1' } }))
    assert.equal(again.meta.resourceVersion, made.meta.resourceVersion)
    assert.equal(shard.store.revision, revision)
  })

  it('refuses a stale version, and runs a change without one again until it wins', async () => {
    const made = await create(configMap('races', { data: { n: '0' } }))
    const count = (object: KubeObject): KubeObject => {
      const { resourceVersion: _, ...metadata } = object.metadata
      const n = Number((object.data as { n: string }).n) + 1
      return { ...object, metadata, data: { n: String(n) } }
    }
    await Promise.all(Array.from({ length: 20 }, () => update('races', current => count(current.object))))
    const { object } = await storage().get(ctx(), keyOf('races'))
    assert.deepEqual(object.data, { n: '20' })
    const stale = await refusal(update('races', () => ({ ...made.object, data: { n: 'x' } })))
    assert.equal(
      stale.message,
      'Operation cannot be fulfilled on configmaps "races": the object has been modified; please apply your changes to the latest version and try again',
    )
  })

  it('refuses another uid and a missing object', async () => {
    await create(configMap('uid'))
    const other = await refusal(
      update('uid', () => ({ ...configMap('uid'), metadata: { name: 'uid', uid: 'other' } })),
    )
    assert.match(other.message ?? '', /Precondition failed: UID in precondition: other, UID in object meta: /)
    const patch = { type: 'application/merge-patch+json', body: () => ({ metadata: { uid: 'other' } }) }
    const change: Change = ({ object }) => ({ ...object, metadata: { ...object.metadata, uid: 'other' } })
    assert.match(
      (await refusal(update('uid', change, { patch }))).message ?? '',
      /metadata.uid: Invalid value: "other": field is immutable$/,
    )
    assert.equal((await refusal(update('nowhere', () => configMap('nowhere')))).code, 404)
  })

  it('tries without storing', async () => {
    const { revision } = shard.store
    const dry = await create(configMap('dry'), { dryRun: true })
    assert.equal(dry.object.metadata.resourceVersion, undefined)
    assert.equal((await refusal(promised(() => storage().get(ctx(), keyOf('dry'))))).code, 404)
    assert.equal((await refusal(create(configMap('uid'), { dryRun: true }))).reason, 'AlreadyExists')
    const changed = await update('uid', current => ({ ...current.object, data: { a: 'b' } }), {
      dryRun: true,
    })
    assert.deepEqual(changed.object.data, { a: 'b' })
    assert.equal((await remove('uid', { dryRun: true })).removed, true)
    assert.equal(shard.store.revision, revision)
  })

  it('keeps an object until an update removes its last finalizer', async () => {
    await create({ ...configMap('held'), metadata: { name: 'held', finalizers: ['example.com/mine'] } })
    const started = await remove('held')
    assert.equal(started.removed, false)
    assert.equal(started.item.object.metadata.deletionGracePeriodSeconds, 0)
    const again = await remove('held')
    assert.equal(again.item.meta.resourceVersion, started.item.meta.resourceVersion)
    assert.match(
      (await refusal(create(configMap('held')))).message ?? '',
      /^object is being deleted: configmaps "held"/,
    )
    const last = await update('held', ({ object }) => {
      const { finalizers: _, ...metadata } = object.metadata
      return { ...object, metadata }
    })
    assert.ok(Number(last.meta.resourceVersion) > Number(started.item.meta.resourceVersion))
    assert.equal((await refusal(promised(() => storage().get(ctx(), keyOf('held'))))).code, 404)
  })

  it('checks preconditions of a deletion in the words of Kubernetes', async () => {
    const made = await create(configMap('guarded'))
    const uid = await refusal(remove('guarded', { uid: 'other' }))
    assert.equal(
      uid.message,
      `Operation cannot be fulfilled on ConfigMap "guarded": the UID in the precondition (other) does not match the UID in record (${made.meta.uid}). The object might have been deleted and then recreated`,
    )
    const version = await refusal(remove('guarded', { resourceVersion: '1' }))
    assert.match(
      version.message ?? '',
      /the ResourceVersion in the precondition \(1\) does not match .* The object might have been modified$/,
    )
    const gone = await remove('guarded', { uid: made.meta.uid, resourceVersion: made.meta.resourceVersion })
    assert.equal(gone.removed, true)
    assert.ok(Number(gone.item.meta.resourceVersion) > Number(made.meta.resourceVersion))
  })

  it('shows one event in both groups of events', async () => {
    const core: ResourceRef = { group: '', version: 'v1', resource: 'events' }
    const group: ResourceRef = { group: 'events.k8s.io', version: 'v1', resource: 'events' }
    const key = keyOf('happened')
    await shard.client.create(core, key, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'happened', namespace: 'default' },
      involvedObject: { kind: 'ConfigMap', name: 'a' },
      message: 'text',
      type: 'Normal',
    })
    const { object } = await storage(group).get(shard.context(group, cluster), key)
    assert.equal(object.apiVersion, 'events.k8s.io/v1')
    assert.deepEqual([object.regarding, object.note], [{ kind: 'ConfigMap', name: 'a' }, 'text'])
    const fields = { requirements: [{ field: 'regarding.kind', operator: '=', value: 'ConfigMap' }] } as const
    const found: string[] = []
    for await (const batch of storage(group).list(shard.context(group, cluster), { cluster, fields }))
      for (const item of batch) found.push(item.key.name)
    assert.deepEqual(found, ['happened'])
  })
})
