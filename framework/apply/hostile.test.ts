import assert from 'node:assert/strict'
import { atOnce, Work } from '../json/json.ts'
import { sameJsonSteps } from '../json/same.ts'
import { invalid, StatusError } from '../meta/errors.ts'
import type { MergeSchema } from '../meta/mergeschema.ts'
import type { KubeObject } from '../meta/object.ts'
import { wholeSchema } from '../meta/objectmeta.ts'
import { parseAtOnce } from '../wire/parsebody.ts'
import { canonicalText } from './canonicaltext.ts'
import { ConflictError, conflictStatus } from './conflict.ts'
import { applyConfiguration, type ManagedEndpoint, trackUpdate } from './fieldmanager.ts'
import { intersectionSteps, sharingSteps } from './fieldpath/common.ts'
import {
  differenceSteps,
  formatFields,
  formatSteps,
  setOf,
  setOfFields,
  unionSteps,
} from './fieldpath/fieldset.ts'
import { parseSteps } from './fieldpath/parsefields.ts'
import { checkLastApplied, lastAppliedAnnotation, withLastApplied } from './lastapplied.ts'
import { type Manager, withTimesOf, withValidManagedFields } from './managed.ts'
import { managedFieldsOfScale, managedFieldsOfScaled } from './scale.ts'
import { comparisonSteps } from './typed/compare.ts'
import { mergeSteps } from './typed/merge.ts'
import { removeSteps } from './typed/remove.ts'
import { fieldSetSteps, namedFieldSteps, toFieldSet } from './typed/tofieldset.ts'
import { typeOf } from './typed/types.ts'
import { validationSteps } from './typed/validate.ts'

const text: MergeSchema = { type: 'string' }
const place: MergeSchema = {
  type: 'object',
  properties: {
    list: { type: 'array', items: text },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    map: { type: 'object', additionalProperties: text },
  },
}
const schema = { type: 'object', properties: { spec: { type: 'object', additionalProperties: place } } }
const type = typeOf(wholeSchema(schema))
const named = { apiVersion: 'example.com/v1', kind: 'Widget' }
const endpoint: ManagedEndpoint = {
  kind: 'Widget',
  apiVersion: named.apiVersion,
  subresource: '',
  type,
  versions: () => type,
  filter: fields => fields,
  zero: { ...named, metadata: {} },
}
const applied = (manager: string, spec: object, live?: KubeObject): KubeObject => {
  const writer = { manager, time: '2026-01-01T00:00:00Z', force: false }
  return atOnce(applyConfiguration(endpoint, writer, { ...named, metadata: { name: 'a' }, spec }, live))
}

const managerOf = (manager: string): Manager => ({
  manager,
  operation: 'Apply',
  apiVersion: named.apiVersion,
  subresource: '',
})

/** A path of 20 kB, and 20,000 paths below it: 400 MB as text. */
const count = 20_000
const long = 'k'.repeat(count)
const times = <T>(make: (i: number) => T): readonly T[] => Array.from({ length: count }, (_, i) => make(i))
const members = (value: unknown): object => Object.fromEntries(times(i => [`m${i}`, value]))

const room = 2 ** 20 + 3 * count
function refusal(run: () => unknown): { readonly message: string; readonly causes: number } {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error))
    return { message: error.message, causes: error.status.details?.causes?.length ?? 0 }
  }
  throw new Error('it was not refused')
}

describe('bodies that are wrong in many places with long paths', () => {
  it('are refused in an answer of some size, when they are applied', () => {
    for (const [below, words] of [
      [{ list: times(i => i) }, 'expected string, got'],
      [{ set: times(i => String(i >> 1)) }, 'duplicate entries for key'],
      [{ set: times(() => null) }, 'an explicit null'],
    ] as const) {
      const { message } = refusal(() => applied('m', { [long]: below }))
      assert.ok(message.includes(words))
      assert.ok(message.length > 2 ** 20 && message.length < room, String(message.length))
    }
  })

  it('conflict in as many fields as there are, of which an answer names some', () => {
    const live = applied('a', { [long]: { map: members('x') } })
    const { message, causes } = refusal(() => applied('b', { [long]: { map: members('y') } }, live))
    assert.ok(message.startsWith(`Apply failed with ${count} conflicts: conflicts with "a":\n- .spec.kkk`))
    assert.ok(message.length < room)
    assert.equal(causes, 53)
  })

  it('have as many repeated fields, and are invalid in as many, as there is room for', () => {
    const repeated = `{"${long}":{${times(i => `"a${i}":1,"a${i}":1`).join()}}}`
    assert.equal(parseAtOnce(Buffer.from(repeated), 'json').duplicates.length, 53)
    const errors = times(i => ({ type: 'FieldValueInvalid' as const, field: `${long}${i}`, detail: 'no' }))
    const refused = (all: typeof errors) =>
      refusal(() => {
        throw invalid('Widget', 'example.com', 'a', all)
      })
    assert.ok(refused(errors).message.length < room)
    assert.equal(refused(errors).causes, 53)
    assert.equal(refused(errors.slice(0, 2)).causes, 2)
  })
})

describe('objects with many fields', () => {
  const stepsOf = (steps: Generator<unknown, unknown>): number => {
    for (let count = 0; ; count++) if (steps.next().done) return count
  }
  const spec = {
    a: { map: Object.fromEntries(times(i => [`k${i}`, 'v'])), set: times(i => `s${i}`) },
  }
  const changed = { a: { map: Object.fromEntries(times(i => [`k${i}`, 'w'])), set: times(i => `t${i}`) } }
  /** The least number of steps of a walk through the values of one map or list. */
  const least = count / 256 - 1

  const fields = toFieldSet(type, { spec })
  const otherFields = toFieldSet(type, { spec: { a: { map: spec.a.map, set: [...spec.a.set, 'more'] } } })
  /** A set with a child for each of many elements. */
  const listed = setOf(
    times(i => ['f:spec', `f:${i}`, 'f:map']).concat(times(i => ['f:spec', `f:x${i}`, 'f:map'])),
  )

  const walks: Readonly<Record<string, () => Generator<void, unknown>>> = {
    'are validated': () => validationSteps(type, { spec }),
    'are merged': () => mergeSteps(type, { spec }, { spec: changed }, new Work()),
    'are compared': () => comparisonSteps(type, { spec }, { spec: changed }),
    'are compared with no object': () => comparisonSteps(type, {}, { spec }),
    'have owners': () => fieldSetSteps(type, { spec }, new Work()),
    'lose fields': () => removeSteps(type, { spec }, setOfFields(['spec', 'a', 'map', 'k0']), new Work()),
    'have fields that are written': () => formatSteps(fields, new Work()),
    'have fields that are read': () => parseSteps(structuredClone(formatFields(fields)), new Work()),
    'have fields that are joined': () => unionSteps(fields, otherFields, new Work()),
    'have fields that are subtracted': () => differenceSteps(fields, otherFields, new Work()),
    'have fields in common': () => intersectionSteps(fields, otherFields, new Work()),
    'share fields': () => sharingSteps(fields, otherFields, new Work()),
    'have fields of structs': () => namedFieldSteps(listed, type, new Work()),
    'are the same': () => sameJsonSteps({ spec }, structuredClone({ spec }), new Work()),
    'are written': () => canonicalText({ spec }, 2 ** 20),
  }
  for (const [what, walk] of Object.entries(walks))
    it(`${what} in many steps`, () => assert.ok(stepsOf(walk()) >= least, `${stepsOf(walk())} steps`))

  it('are applied, created and updated in many steps', () => {
    const live = applied('m1', spec)
    const writer = { manager: 'm2', time: '2026-01-01T00:00:00Z' }
    const next = { ...live, spec: changed } as KubeObject
    const config = { ...named, metadata: { name: 'a' }, spec: changed }
    const apply = applyConfiguration(endpoint, { ...writer, force: true }, config, live)
    assert.ok(stepsOf(apply) >= 8 * least)
    const less = { ...config, spec: { a: { map: { k: 'v' } } } }
    const pruning = applyConfiguration(endpoint, { ...writer, manager: 'm1', force: true }, less, live)
    assert.ok(stepsOf(pruning) >= 8 * least)
    assert.ok(stepsOf(trackUpdate(endpoint, writer, next)) >= 3 * least)
    assert.ok(stepsOf(trackUpdate(endpoint, writer, next, live)) >= 6 * least)
  })

  it('conflict in many steps, also with what kubectl has applied before', () => {
    const live = applied('m1', spec)
    const config = { ...named, metadata: { name: 'a' }, spec: changed }
    const error = new ConflictError([{ manager: managerOf('m1'), fields: toFieldSet(type, { spec }) }])
    assert.ok(stepsOf(conflictStatus(error.conflicts)) >= least)
    const annotations = { [lastAppliedAnnotation]: JSON.stringify({ ...config, spec }) }
    const annotated = { ...live, metadata: { ...live.metadata, annotations } }
    assert.ok(stepsOf(checkLastApplied(error, annotated, type)) >= 6 * least)
  })

  it('have a Scale, and owners that are compared and checked, in many steps', () => {
    const live = applied('m1', spec)
    const copy = () => structuredClone(live)
    const owners = () => copy().metadata.managedFields
    const replicas = new Map([[named.apiVersion, ['spec', 'a', 'map', 'k0']]])
    for (const [what, steps] of Object.entries({
      toScale: managedFieldsOfScale(owners(), replicas),
      fromScale: managedFieldsOfScaled(owners(), undefined, replicas, named.apiVersion),
      times: withTimesOf(copy(), live),
      valid: withValidManagedFields(copy(), live, assert.fail),
    }))
      assert.ok(stepsOf(steps) >= least, what)
  })

  it('become what kubectl has applied in many steps, and no more than an annotation may have', () => {
    const live = applied('m1', spec)
    const annotated = {
      ...live,
      metadata: { ...live.metadata, annotations: { [lastAppliedAnnotation]: '{}' } },
    }
    const config = { ...named, metadata: { name: 'a' }, spec: { a: { map: { k: 'v' }, set: ['<'] } } }
    const text = atOnce(withLastApplied(annotated, config)).metadata.annotations?.[lastAppliedAnnotation]
    assert.equal(
      text,
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"a":{"map":{"k":"v"},"set":["\\u003c"]}}}\n',
    )
    const shorter = { a: { set: spec.a.set } }
    assert.ok(stepsOf(withLastApplied(annotated, { ...config, spec: shorter })) >= least)
    assert.deepEqual(atOnce(withLastApplied(annotated, { ...config, spec })).metadata.annotations, {})
  })
})
