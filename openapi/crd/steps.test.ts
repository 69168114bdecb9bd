import assert from 'node:assert/strict'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { mixedText } from '../../framework/testing/mixedtext.ts'
import { validateAPIResourceSchema } from '../apiresourceschema.ts'
import { validateCustomResourceDefinition } from './crd.ts'
import { crdOf } from './testing/definition.ts'

const times = <T>(count: number, make: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const named = <T>(count: number, make: (i: number) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(times(count, i => [`k${i}`, make(i)]))

const versionOf = (properties: JSONSchemaProps['properties'], more: object = {}): object => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties, ...more } } },
  },
})

/** The number of steps of work without errors. */
function stepsOf(work: Generator<unknown, readonly unknown[]>): number {
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next()
    if (done !== true) continue
    assert.deepEqual(value, [])
    return steps
  }
}
const checking = (version: object, more: object = {}): number =>
  stepsOf(validateCustomResourceDefinition(crdOf({ versions: [version], ...more })))

const text: JSONSchemaProps = { type: 'string', maxLength: 9 }
const rule = { rule: 'self != "a"' }

describe('a large definition is checked in steps', () => {
  it('of a few hundred values of its schema', () => {
    assert.ok(checking(versionOf(named(10_000, () => text))) > 100)
    const nested = named(100, () => ({ type: 'object' as const, properties: named(100, () => text) }))
    assert.ok(checking(versionOf(nested)) > 100)
    const alternatives = times(10_000, () => ({ minLength: 1 }))
    assert.ok(checking(versionOf({ a: { ...text, anyOf: alternatives } })) > 100)
  })

  it('of a few hundred keys of a list', () => {
    const properties = named(5_000, () => ({ type: 'string' as const }))
    const list: JSONSchemaProps = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': Object.keys(properties),
      items: { type: 'object', required: Object.keys(properties), properties },
    }
    const one: JSONSchemaProps = { ...list, 'x-kubernetes-list-map-keys': ['k0'] }
    assert.ok(checking(versionOf({ list })) >= checking(versionOf({ list: one })) + 19)
  })

  it('of one rule', () => {
    const many = named(300, () => ({ ...text, 'x-kubernetes-validations': [rule] }))
    assert.ok(checking(versionOf(many)) >= 300)
    const together = { ...text, 'x-kubernetes-validations': times(300, () => rule) }
    assert.ok(checking(versionOf({ a: together })) >= 300)
  })

  it('of one default', () => {
    assert.ok(checking(versionOf(named(1_000, i => ({ ...text, default: `d${i}` })))) >= 1_000)
  })

  it('of some milliseconds of matching the text of a default', () => {
    const items = { type: 'string' as const, pattern: 'a[ab]{100}[cd]' }
    const list = {
      type: 'array' as const,
      items,
      default: times(24, i => `${mixedText(5_000, i)}a${mixedText(100, i)}c`),
    }
    assert.ok(checking(versionOf({ list })) >= checking(versionOf({ list: { ...list, default: [] } })) + 5)
  })

  it('of one version', () => {
    const versions = times(150, i => ({
      ...versionOf({ [`p${i}`]: text }),
      name: `v${i + 1}`,
      storage: i === 0,
    }))
    assert.ok(stepsOf(validateCustomResourceDefinition(crdOf({ versions }))) >= 150)
  })

  it('of a few hundred columns and names', () => {
    const columns = times(2_000, i => ({ name: `c${i}`, type: 'string', jsonPath: '.spec.a' }))
    assert.ok(checking({ ...versionOf({ a: text }), additionalPrinterColumns: columns }) >= 7)
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
    const shortNames = times(5_000, i => `s${i}`)
    assert.ok(checking(versionOf({ a: text }), { names: { ...names, shortNames } }) >= 19)
  })

  it('also where it has not changed, and as an APIResourceSchema', () => {
    const [old, next] = times(2, () => crdOf({ versions: [versionOf(named(10_000, () => ({ ...text })))] }))
    assert.ok(old !== undefined && next !== undefined)
    assert.ok(stepsOf(validateCustomResourceDefinition(next, old)) > 50)
    const { spec } = crdOf() as unknown as { readonly spec: object }
    const [schema, same] = times(2, () => ({
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIResourceSchema',
      metadata: { name: 'v1.widgets.example.com' },
      spec: {
        ...spec,
        versions: [{ ...versionOf({}), schema: schemaOf(named(10_000, () => ({ ...text }))) }],
      },
    }))
    assert.ok(schema !== undefined && same !== undefined)
    assert.ok(stepsOf(validateAPIResourceSchema(schema)) > 100)
    assert.ok(stepsOf(validateAPIResourceSchema(same, schema)) > 50)
  })
})

const schemaOf = (properties: JSONSchemaProps['properties']): object => ({ type: 'object', properties })
