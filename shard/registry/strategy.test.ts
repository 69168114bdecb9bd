import assert from 'node:assert/strict'
import { atOnce } from '../../framework/json/json.ts'
import { generatedName } from '../../framework/meta/names.ts'
import type { KubeObject, Metadata } from '../../framework/meta/object.ts'
import { metadataUpdateErrors } from './metadata.ts'
import { kindStrategyOf } from './reststrategy.ts'
import {
  isHeld,
  prepareForCreate,
  prepareForUpdate,
  propagationFinalizers,
  startDeletion,
  stepsOf,
  withSystemFields,
} from './strategy.ts'
import { builtin, texts, widget, widgets } from './testing/widgets.ts'

const key = { cluster: 'c1', namespace: 'ns', name: 'a' }

const prepared = (...args: Parameters<typeof prepareForUpdate>): KubeObject =>
  atOnce(prepareForUpdate(...args))

const stored = (metadata: Metadata = {}, rest: object = {}): KubeObject =>
  widget(
    {
      namespace: 'ns',
      uid: 'u1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 3,
      annotations: { 'kcp.io/cluster': 'c1' },
      ...metadata,
    },
    rest,
  )

describe('metadata on create', () => {
  it('removes and fills system fields', () => {
    const sent = widget({
      uid: 'mine',
      resourceVersion: '7',
      deletionTimestamp: '2020-01-01T00:00:00Z',
      generation: 9,
      labels: { 'claimed.internal.apis.kcp.io/x': 'y', a: 'b' },
      annotations: { 'kcp.io/cluster': 'elsewhere', 'kcp.io/shard': 'other', note: 'kept' },
    })
    const { uid, creationTimestamp, ...metadata } = withSystemFields(widgets, key, sent).metadata
    assert.match(uid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.match(creationTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.deepEqual(metadata, {
      name: 'a',
      namespace: 'ns',
      labels: { a: 'b' },
      annotations: { 'kcp.io/cluster': 'c1', note: 'kept' },
    })
  })

  it('drops status where status has its own endpoint, and starts generations at one', () => {
    const made = prepareForCreate(widgets, widget({}, { spec: { a: 1 }, status: { b: 2 } }))
    assert.equal('status' in made, false)
    assert.equal(made.metadata.generation, 1)
    const map = prepareForCreate(builtin('configmaps', 'ConfigMap'), widget({ generation: 4 }))
    assert.equal('generation' in map.metadata, false)
  })

  it('makes names of at most 63 bytes from generateName', () => {
    assert.match(generatedName('web-'), /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    assert.equal(generatedName('x'.repeat(80)).length, 63)
    assert.match(
      prepareForCreate(widgets, { ...widget(), metadata: { generateName: 'w-' } }).metadata.name ?? '',
      /^w-.{5}$/,
    )
    assert.equal(prepareForCreate(widgets, widget({ generateName: 'w-' })).metadata.name, 'a')
  })
})

describe('metadata on update', () => {
  it('keeps system fields, and increments the generation when the content changes', () => {
    const old = stored({}, { spec: { a: 1 }, status: { s: 1 } })
    const creationTimestamp = '2001-02-03T04:05:06Z'
    const sent = widget(
      { labels: { l: '1' }, creationTimestamp, generation: 77 },
      { spec: { a: 2 }, status: { s: 2 } },
    )
    const next = prepared(widgets, '', sent, old)
    assert.deepEqual(next.metadata, { ...old.metadata, generation: 4, labels: { l: '1' } })
    assert.deepEqual([next.spec, next.status], [{ a: 2 }, { s: 1 }])
  })

  it('neither makes an object a copy of one of another shard, nor a copy an object of this shard', () => {
    const isCopyOf = (origin: string) => ({ annotations: { 'kcp.io/cluster': 'c1', 'kcp.io/shard': origin } })
    const copy = stored(isCopyOf('alpha'))
    for (const [old, sent] of [
      [stored(), isCopyOf('alpha')],
      [copy, isCopyOf('beta')],
      [copy, {}],
    ] as const) {
      const next = prepared(widgets, '', widget(sent), old)
      assert.deepEqual(next.metadata.annotations, old.metadata.annotations)
    }
  })

  it('does not count changes of metadata or status', () => {
    const old = stored({}, { spec: { a: 1 }, status: { s: 1 } })
    for (const sent of [
      widget({ labels: { l: '1' } }, { spec: { a: 1 } }),
      widget({}, { spec: { a: 1 }, status: {} }),
    ])
      assert.equal(prepared(widgets, '', sent, old).metadata.generation, 3)
  })

  it('compares a large object in steps', () => {
    const spec = { list: Array.from({ length: 20_000 }, (_, i) => i) }
    const old = stored({}, { spec })
    const steps = [...prepareForUpdate(widgets, '', widget({}, { spec: structuredClone(spec) }), old)]
    assert.ok(steps.length > 20, `${steps.length} steps`)
  })

  it('lets /status write status and nothing else', () => {
    const old = stored({}, { spec: { a: 1 }, status: { s: 1 } })
    const next = prepared(
      widgets,
      'status',
      widget({ labels: { l: '1' } }, { spec: { a: 2 }, status: { s: 2 } }),
      old,
    )
    assert.deepEqual(next, { ...old, status: { s: 2 } })
  })

  it('counts changes of status without a status subresource', () => {
    const old = stored({}, { status: { s: 1 } })
    assert.equal(
      prepared({ ...widgets, status: false }, '', widget({}, { status: { s: 2 } }), old).metadata.generation,
      4,
    )
  })

  it('ignores deletionTimestamp in updates', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z'
    const sent = widget({ deletionTimestamp: '2001-02-03T04:05:06Z' })
    const going = prepared(widgets, '', sent, stored({ deletionTimestamp }))
    assert.equal(going.metadata.deletionTimestamp, deletionTimestamp)
    const old = stored()
    assert.deepEqual(texts(metadataUpdateErrors(prepared(widgets, '', sent, old), old)), [
      'metadata.deletionTimestamp: Invalid value: "2001-02-03T04:05:06Z": field is immutable',
    ])
  })

  it('takes no new finalizers once the deletion has begun', () => {
    const old = stored({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a.b/c'] })
    const next = prepared(widgets, '', widget({ finalizers: ['a.b/c', 'x.y/z'] }), old)
    assert.deepEqual(texts(metadataUpdateErrors(next, old)), [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.y/z"}',
    ])
  })
})

describe('deletion', () => {
  it('marks an object once', () => {
    const marked = startDeletion(widgets, stored({ finalizers: ['a.b/c'] }))
    assert.equal(marked.metadata.generation, 4)
    assert.equal(marked.metadata.deletionGracePeriodSeconds, 0)
    assert.equal(startDeletion(widgets, marked), marked)
    assert.ok(isHeld(widgets, marked))
  })

  it('turns policies into finalizers, the wanted one last', () => {
    assert.deepEqual(propagationFinalizers(['orphan', 'a.b/c'], 'Foreground'), [
      'a.b/c',
      'foregroundDeletion',
    ])
    assert.deepEqual(propagationFinalizers(['foregroundDeletion'], 'Orphan'), ['orphan'])
    assert.equal(propagationFinalizers(['foregroundDeletion'], 'Background'), undefined)
    assert.deepEqual(propagationFinalizers(['orphan'], undefined), ['orphan'])
  })

  it('keeps namespaces with spec.finalizers, and sets the phase Terminating', () => {
    const namespaces = builtin('namespaces', 'Namespace', true)
    const made = prepareForCreate(namespaces, widget({ name: 'team' }))
    assert.deepEqual([made.spec, made.status], [{ finalizers: ['kubernetes'] }, { phase: 'Active' }])
    assert.deepEqual(made.metadata.labels, { 'kubernetes.io/metadata.name': 'team' })
    const marked = startDeletion(namespaces, made)
    assert.deepEqual(marked.status, { phase: 'Terminating' })
    assert.ok(isHeld(namespaces, marked))
    const finalized = prepared(namespaces, 'finalize', { ...marked, spec: { finalizers: [] } }, marked)
    assert.equal(isHeld(namespaces, finalized), false)
  })
})

describe('built-in kinds', () => {
  it('merge stringData of secrets into data', () => {
    const secret = prepareForCreate(
      builtin('secrets', 'Secret'),
      widget({}, { data: { a: 'eA==' }, stringData: { b: 'y' } }),
    )
    assert.deepEqual(secret.data, { a: 'eA==', b: 'eQ==' })
    assert.equal('stringData' in secret, false)
  })

  it('keep the roleRef of a binding, and immutable data', () => {
    const bindings = kindStrategyOf('rolebindings.rbac.authorization.k8s.io')
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }
    const changed = { ...widget(), roleRef: { ...roleRef, name: 's' } }
    assert.match(
      texts(atOnce(stepsOf(bindings.validate?.(changed, { ...widget(), roleRef })))).join(),
      /: cannot change roleRef$/,
    )
    const secrets = kindStrategyOf('secrets')
    const old = widget({}, { immutable: true, data: { a: 'eA==' }, type: 'Opaque' })
    const next = widget({}, { immutable: true, data: {}, type: 'Other' })
    assert.deepEqual(texts(atOnce(stepsOf(secrets.validate?.(next, old)))), [
      'type: Invalid value: "Other": field is immutable',
      'data: Forbidden: field is immutable when `immutable` is set',
    ])
  })
})
