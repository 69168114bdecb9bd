import assert from 'node:assert/strict'
import { atOnce, Work } from '../json/json.ts'
import { invalid, StatusError } from '../meta/errors.ts'
import type { MergeSchema } from '../meta/mergeschema.ts'
import type { KubeObject } from '../meta/object.ts'
import { wholeSchema } from '../meta/objectmeta.ts'
import { parseAtOnce } from '../wire/parsebody.ts'
import { applyConfiguration, type ManagedEndpoint, trackUpdate } from './fieldmanager.ts'
import { comparisonSteps } from './typed/compare.ts'
import { mergeSteps } from './typed/merge.ts'
import { fieldSetSteps } from './typed/tofieldset.ts'
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
  group: 'example.com',
  version: 'v1',
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
  const stepsOf = (steps: Generator<void, unknown>): number => {
    for (let count = 0; ; count++) if (steps.next().done) return count
  }
  const spec = {
    a: { map: Object.fromEntries(times(i => [`k${i}`, 'v'])), set: times(i => `s${i}`) },
  }
  const changed = { a: { map: Object.fromEntries(times(i => [`k${i}`, 'w'])), set: times(i => `t${i}`) } }
  /** The least number of steps of a walk through all values. */
  const least = (2 * count) / 256 - 1

  const walks: Readonly<Record<string, () => Generator<void, unknown>>> = {
    'are validated': () => validationSteps(type, { spec }),
    'are merged': () => mergeSteps(type, { spec }, { spec: changed }, new Work()),
    'are compared': () => comparisonSteps(type, { spec }, { spec: changed }),
    'are compared with no object': () => comparisonSteps(type, {}, { spec }),
    'have owners': () => fieldSetSteps(type, { spec }),
  }
  for (const [what, walk] of Object.entries(walks))
    it(`${what} in many steps`, () => assert.ok(stepsOf(walk()) >= least, `${stepsOf(walk())} steps`))

  it('are applied, created and updated in many steps', () => {
    const live = applied('m1', spec)
    const writer = { manager: 'm2', time: '2026-01-01T00:00:00Z' }
    const next = { ...live, spec: changed } as KubeObject
    const config = { ...named, metadata: { name: 'a' }, spec: changed }
    const apply = applyConfiguration(endpoint, { ...writer, force: true }, config, live)
    assert.ok(stepsOf(apply) >= 4 * least)
    assert.ok(stepsOf(trackUpdate(endpoint, writer, next)) >= least)
    assert.ok(stepsOf(trackUpdate(endpoint, writer, next, live)) >= least)
  })
})
