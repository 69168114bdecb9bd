import assert from 'node:assert/strict'
import fc from 'fast-check'
import { atOnce, canonicalJson } from '../json/json.ts'
import { StatusError } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import { applyConfiguration, type ManagedEndpoint, trackUpdate } from './fieldmanager.ts'
import { recursiveDifference, setOfFields } from './fieldpath/fieldset.ts'
import { lastAppliedAnnotation } from './lastapplied.ts'
import { withTimesOf } from './managed.ts'
import { anySpec, shapes } from './testing/shapes.ts'
import { typeOf } from './typed/types.ts'

type Spec = Readonly<Record<string, unknown>>

const apiVersion = 'example.com/v1'
const type = typeOf(shapes)
const endpoint: ManagedEndpoint = {
  kind: 'Widget',
  apiVersion,
  subresource: '',
  type,
  versions: version => (version === apiVersion || version === 'example.com/v1beta1' ? type : undefined),
  filter: fields => recursiveDifference(fields, setOfFields(['status'])),
  zero: { apiVersion, kind: 'Widget', metadata: {} },
}

let clock = 0
const writer = (manager: string, force = false) => ({
  manager,
  force,
  time: new Date(Date.UTC(2026, 0, 1, 0, 0, clock++)).toISOString().replace('.000', ''),
})
const widget = (spec: Spec, metadata: object = {}): KubeObject => ({
  apiVersion,
  kind: 'Widget',
  metadata: { name: 'w', ...metadata },
  spec,
})
const stored = (object: KubeObject): KubeObject => ({ ...object, metadata: { ...object.metadata, uid: 'u' } })
const apply = (live: KubeObject | undefined, manager: string, spec: Spec, force = false): KubeObject =>
  stored(atOnce(applyConfiguration(endpoint, writer(manager, force), { ...widget(spec) }, live)))
const update = (live: KubeObject | undefined, manager: string, next: KubeObject): KubeObject =>
  stored(atOnce(trackUpdate(endpoint, writer(manager), next, live)))

interface Entry {
  readonly manager: string
  readonly operation: string
  readonly apiVersion: string
  readonly time?: string
  readonly fieldsV1: unknown
}
const entriesOf = ({ metadata }: KubeObject): readonly Entry[] =>
  (metadata.managedFields ?? []) as unknown as readonly Entry[]
const managersOf = (object: KubeObject): readonly string[] =>
  entriesOf(object).map(({ manager, operation }) => `${manager} ${operation}`)
const specOf = (object: KubeObject): unknown => object.spec

describe('server-side apply', () => {
  it('is idempotent', () => {
    fc.assert(
      fc.property(anySpec, anySpec, (first, second) => {
        const live = apply(apply(undefined, 'm1', first), 'm2', second, true)
        assert.equal(canonicalJson(apply(live, 'm2', second)), canonicalJson(live))
      }),
    )
  })

  it('has the fields of the last apply, and no entry of a manager without fields', () => {
    fc.assert(
      fc.property(anySpec, anySpec, (first, second) => {
        const live = apply(apply(undefined, 'm1', first), 'm1', second)
        assert.equal(canonicalJson(apply(live, 'm1', second)), canonicalJson(live))
        const { spec: _, ...identity } = widget({})
        const left = atOnce(applyConfiguration(endpoint, writer('m1'), identity, live))
        assert.deepEqual(managersOf(left), [])
      }),
    )
  })

  it('never conflicts over equal values, and an update that changes nothing owns nothing', () => {
    fc.assert(
      fc.property(anySpec, spec => {
        const live = apply(apply(undefined, 'm1', spec), 'm2', spec)
        assert.deepEqual(specOf(live), spec)
        assert.equal(canonicalJson(update(live, 'curl', live)), canonicalJson(live))
      }),
    )
  })

  it('gives an updater exactly the fields that it changed', () => {
    fc.assert(
      fc.property(anySpec, anySpec, (first, second) => {
        const live = update(undefined, 'a', widget(first))
        const next = update(live, 'b', { ...live, spec: second })
        const back = update(next, 'c', { ...next, spec: second })
        assert.deepEqual(managersOf(back), managersOf(next))
      }),
    )
  })

  it('fails with nothing but a Status, and tracking never fails', () => {
    const config = fc.oneof(
      fc.dictionary(fc.constantFrom('apiVersion', 'kind', 'metadata', 'spec', 'x'), fc.jsonValue()),
      fc.jsonValue().map(spec => ({ ...widget({}), spec })),
      fc.jsonValue().map(metadata => ({ ...widget({}), metadata })),
    )
    const live = apply(undefined, 'm1', { color: 'a', ports: [{ name: 'a' }] })
    fc.assert(
      fc.property(config, config => {
        try {
          atOnce(applyConfiguration(endpoint, writer('m2', true), config, live))
        } catch (error) {
          assert.ok(error instanceof StatusError, String(error))
        }
      }),
      { numRuns: 1000 },
    )
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (spec, managedFields) => {
        const sent = { ...widget({}), spec, metadata: { name: 'w', managedFields } as object }
        atOnce(trackUpdate(endpoint, writer('m2'), sent, live))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('managedFields', () => {
  it('merge the oldest of more than ten updaters, per version (5.28)', () => {
    let live = update(undefined, 'first', widget({ color: 'a' }))
    for (let i = 0; i < 11; i++)
      live = update(
        live,
        `m${i}`,
        widget({
          ...(live.spec as Spec),
          limits: { ...((live.spec as { limits?: Spec }).limits ?? {}), [`l${i}`]: 'x' },
        }),
      )
    assert.equal(managersOf(live).length, 10)
    assert.ok(managersOf(live).includes('ancient-changes Update'))
    assert.ok(!managersOf(live).includes('first Update'))
  })

  it('drop entries of versions that are gone (5.49)', () => {
    const live = apply(undefined, 'm1', { color: 'a' })
    const [entry] = entriesOf(live)
    const old = {
      ...live,
      metadata: { ...live.metadata, managedFields: [{ ...entry, apiVersion: 'example.com/v0' }] },
    }
    assert.deepEqual(managersOf(update(live, 'curl', { ...old, spec: { color: 'b' } } as KubeObject)), [
      'curl Update',
    ])
  })

  it('are dropped for an object with duplicate items', () => {
    const live = apply(undefined, 'm1', { color: 'a' })
    assert.deepEqual(managersOf(update(live, 'curl', widget({ ports: [null] }))), [])
  })

  it('let kubectl take over fields of client-side apply only (5.55)', () => {
    const config = widget({ color: 'a' })
    const annotations = { [lastAppliedAnnotation]: `${JSON.stringify(config)}\n` }
    const created = update(undefined, 'kubectl-client-side-apply', widget({ color: 'a' }, { annotations }))
    const taken = apply(created, 'kubectl', { color: 'b' })
    assert.equal(
      taken.metadata.annotations?.[lastAppliedAnnotation],
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"color":"b"}}\n',
    )
    assert.throws(() => apply(created, 'other', { color: 'b' }), /conflict with "kubectl-client-side-apply"/)
    const changed = update(created, 'curl', { ...created, spec: { color: 'c' } })
    assert.throws(() => apply(changed, 'kubectl', { color: 'b' }), /conflict with "curl"/)
  })

  it('keep their times where nothing else differs (5.61)', () => {
    const live = update(undefined, 'a', widget({ color: 'a' }))
    const later = update(live, 'a', widget({ color: 'b' }))
    assert.notEqual(entriesOf(later)[0]?.time, entriesOf(live)[0]?.time)
    assert.equal(entriesOf(atOnce(withTimesOf(later, live)))[0]?.time, entriesOf(live)[0]?.time)
    const other = update(live, 'b', widget({ color: 'b' }))
    assert.equal(atOnce(withTimesOf(other, live)), other)
  })

  it('belong to an endpoint, without the fields that it resets (5.51 k)', () => {
    const live = apply(undefined, 'm1', { color: 'a' })
    const changed = update(live, 'curl', { ...live, status: { phase: 'x' } })
    assert.deepEqual(managersOf(changed), ['m1 Apply'])
  })
})
