import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { atOnce } from '../framework/json/json.ts'
import { fieldErrorBody } from '../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import { foreignCrds, kcpCrds, noForeignCrds, noKcpCrds } from '../test/support/crds.ts'
import { notRun } from '../test/support/notrun.ts'
import { validateAPIResourceSchema } from './apiresourceschema.ts'
import { columnsOf } from './columns.ts'
import { compileSchema } from './compile.ts'
import { defaultCustomResourceDefinition, validateCustomResourceDefinition } from './crd/crd.ts'
import type { PrinterColumn } from './definitions/definition.ts'

interface Version {
  readonly name: string
  readonly schema: { readonly openAPIV3Schema: JSONSchemaProps }
  readonly additionalPrinterColumns?: readonly PrinterColumn[]
}
interface Crd extends KubeObject {
  readonly spec: { readonly group: string; readonly names: object; readonly versions: readonly Version[] }
}

/** As kcp's tooling makes it. */
const resourceSchemaOf = ({ metadata, spec }: Crd): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { ...metadata, name: `today.${metadata.name}` },
  spec: { ...spec, versions: spec.versions.map(v => ({ ...v, schema: v.schema.openAPIV3Schema })) },
})

/** Alternatives are not generated. */
const isPlain = (schema: JSONSchemaProps): boolean =>
  ['not', 'oneOf', 'anyOf', 'allOf', 'multipleOf'].every(keyword => !(keyword in schema))

/** Text that a schema accepts; undefined for formats other than times, and for patterns that JavaScript lacks. */
function text({
  pattern,
  format,
  minLength = 0,
  maxLength = 64,
}: JSONSchemaProps): fc.Arbitrary<string> | undefined {
  if (format !== undefined) return format === 'date-time' ? fc.constant('2026-01-01T00:00:00Z') : undefined
  if (pattern === undefined)
    return fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, 80) })
  try {
    const strings = fc.stringMatching(new RegExp(pattern), { size: 'xsmall' })
    // JavaScript's \s and . match more characters than RE2's.
    const isCommon = (s: string): boolean => /^[\t\n\f\r -~]*$/.test(s)
    return strings.filter(s => s.length >= minLength && s.length <= maxLength && isCommon(s))
  } catch {
    return undefined
  }
}

const integer = ({ minimum = 0, maximum = minimum + 9 }: JSONSchemaProps): fc.Arbitrary<number> =>
  fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) })

/** A value that a schema accepts; undefined where it is too picky for random values. */
function generated(schema: JSONSchemaProps, depth = 6): fc.Arbitrary<unknown> | undefined {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (!isPlain(schema)) return undefined
  if (schema['x-kubernetes-int-or-string']) return fc.integer({ min: 0, max: 9 })
  switch (schema.type) {
    case 'string':
      return text(schema)
    case 'integer':
    case 'number':
      return integer(schema)
    case 'boolean':
      return fc.boolean()
    case 'array':
      return list(schema, depth)
    default:
      return depth === 0 ? undefined : objectValue(schema, depth)
  }
}

/** At most one item, so that sets and maps have no duplicates. */
function list({ items, minItems = 0 }: JSONSchemaProps, depth: number): fc.Arbitrary<unknown> | undefined {
  const item = items === undefined || depth === 0 ? undefined : generated(items, depth - 1)
  if (item === undefined) return minItems === 0 ? fc.constant([]) : undefined
  return minItems > 1 ? undefined : fc.array(item, { minLength: minItems, maxLength: 1 })
}

function objectValue(schema: JSONSchemaProps, depth: number): fc.Arbitrary<unknown> | undefined {
  const required = schema.required ?? []
  const members = Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const value = generated(property, depth - 1)
    return value === undefined ? [] : [[key, value] as const]
  })
  if (!required.every(key => members.some(([k]) => k === key)) || schema.minProperties) return undefined
  return fc.record(Object.fromEntries(members), { requiredKeys: [...required] })
}

describe('CRDs of other projects', () => {
  if (foreignCrds().length === 0) notRun('are valid, and accept what is made for them', noForeignCrds)
  if (kcpCrds().length === 0) notRun('of kcp are valid, and accept what is made for them', noKcpCrds)
  const crds = [...foreignCrds(), ...kcpCrds()] as unknown as readonly Crd[]
  for (const crd of crds)
    describe(String(crd.metadata.name), () => {
      it('is valid, as itself and as an APIResourceSchema', () => {
        const complete = defaultCustomResourceDefinition(crd)
        assert.deepEqual(atOnce(validateCustomResourceDefinition(complete)), [])
        assert.deepEqual(atOnce(validateAPIResourceSchema(resourceSchemaOf(complete as Crd))), [])
      })

      for (const version of crd.spec.versions) checkVersion(crd, version)
    })
})

/** Objects are made for the shape of a schema: its rules ask for more. */
function withoutRules(schema: JSONSchemaProps): JSONSchemaProps {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'x-kubernetes-validations' && Array.isArray(value) ? undefined : value,
  )
}

function checkVersion(crd: Crd, { name, schema, additionalPrinterColumns }: Version): void {
  const objectOf = (fields: object): KubeObject => ({
    ...fields,
    apiVersion: `${crd.spec.group}/${name}`,
    kind: 'Any',
    metadata: { name: 'cluster' },
  })
  const compiled = compileSchema(withoutRules(schema.openAPIV3Schema))
  const withRules = compileSchema(schema.openAPIV3Schema)

  it(`${name} accepts generated objects, and reports unknown fields`, () => {
    const { metadata: _, ...properties } = schema.openAPIV3Schema.properties ?? {}
    const valid = objectValue({ ...schema.openAPIV3Schema, properties }, 5)
    fc.assert(
      fc.property(valid ?? fc.constant({}), fields => {
        const { object, unknown } = compiled.decode(objectOf({ ...(fields as object), strange: 1 }))
        assert.deepEqual(unknown, ['strange'])
        const errors = compiled.validate(object)
        if (valid !== undefined)
          assert.deepEqual(
            errors.map(e => `${e.field}: ${fieldErrorBody(e)}`),
            [],
          )
        assert.deepEqual(compiled.validate(object, object), [])
      }),
      { numRuns: 8 },
    )
  })

  it(`${name} survives objects that have nothing to do with it`, () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('spec', 'status', 'x'), fc.jsonValue()), fields => {
        withRules.validate(withRules.decode(objectOf(fields)).object)
      }),
      { numRuns: 20 },
    )
  })

  it(`${name} has columns`, () => {
    const columns = columnsOf(additionalPrinterColumns)
    assert.ok(columns.length > 0)
    for (const column of columns) assert.doesNotThrow(() => column.cell(objectOf({}), new Date()))
  })
}
