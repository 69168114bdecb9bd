import type { FieldStep } from '../../../framework/lens/fieldcutter.ts'
import type { JSONSchemaProps } from '../../../openapi/index.ts'
import type { FieldSteps } from './fieldsteps.ts'
import { treeOf, withoutPaths } from './pathtree.ts'

type Schema = JSONSchemaProps

/** The schema without hidden fields: without their rules, and without values of theirs in defaults and examples. */
export const withoutHidden = (schema: Schema, paths: readonly FieldSteps[]): Schema =>
  paths.reduce((rest, { steps }) => pruned(rest, steps), schema)

/** Whether a path leads to a key of a list of type map. */
export const isListKey = (schema: Schema, { steps }: FieldSteps): boolean => leadsToKey(schema, steps)

/** Whether objects of the schema can have something at a path of `spec`, `status` or other fields beside metadata. */
export const canHave = (schema: Schema, { steps }: FieldSteps): boolean => leadsToField(schema, steps)

function leadsToField(schema: Schema | undefined, [step, ...rest]: readonly FieldStep[]): boolean {
  if (schema === undefined) return false
  if (step === undefined || hasAnyFields(schema)) return true
  if (step === 'each') return leadsToField(schema.items ?? valuesOf(schema), rest)
  const { properties = {} } = schema
  return leadsToField(Object.hasOwn(properties, step.key) ? properties[step.key] : valuesOf(schema), rest)
}

/** A schema that does not tell its fields, such as that of an embedded object. */
function hasAnyFields(schema: Schema): boolean {
  const { properties, items, additionalProperties } = schema
  const tellsNothing = properties === undefined && items === undefined && valuesOf(schema) === undefined
  const isValue = schema.type !== undefined && schema.type !== 'object'
  return (
    (tellsNothing && !isValue) ||
    additionalProperties === true ||
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    schema['x-kubernetes-embedded-resource'] === true
  )
}

function leadsToKey(schema: Schema | undefined, [step, ...rest]: readonly FieldStep[]): boolean {
  if (schema === undefined || step === undefined) return false
  if (step === 'each') {
    const [key] = rest
    const keys = schema['x-kubernetes-list-map-keys'] ?? []
    const isKey = rest.length === 1 && key !== undefined && key !== 'each' && keys.includes(key.key)
    return isKey || leadsToKey(schema.items ?? valuesOf(schema), rest)
  }
  return leadsToKey(schema.properties?.[step.key] ?? valuesOf(schema), rest)
}

const valuesOf = ({ additionalProperties }: Schema): Schema | undefined =>
  typeof additionalProperties === 'object' ? additionalProperties : undefined

function pruned(schema: Schema, steps: readonly FieldStep[]): Schema {
  const [step, ...rest] = steps
  if (step === undefined) return schema
  const own = withoutConditions(schema)
  const withDefault =
    own.default === undefined
      ? own
      : { ...own, default: withoutPaths(own.default, treeOf([{ text: '', steps }])) }
  return step === 'each' ? prunedEach(withDefault, rest) : prunedField(withDefault, step.key, rest)
}

/** Rules and combined schemas may be about hidden fields; the source checks them. */
function withoutConditions(schema: Schema): Schema {
  const conditions = ['x-kubernetes-validations', 'example', 'enum', 'allOf', 'anyOf', 'oneOf', 'not']
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !conditions.includes(keyword)))
}

function prunedEach(schema: Schema, rest: readonly FieldStep[]): Schema {
  const values = valuesOf(schema)
  return {
    ...schema,
    ...(schema.items && { items: pruned(schema.items, rest) }),
    ...(values && { additionalProperties: pruned(values, rest) }),
  }
}

function prunedField(schema: Schema, key: string, rest: readonly FieldStep[]): Schema {
  const { properties = {}, required = [] } = schema
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined
  if (property === undefined) {
    const values = valuesOf(schema)
    return values && rest.length > 0 ? { ...schema, additionalProperties: pruned(values, rest) } : schema
  }
  if (rest.length > 0) return { ...schema, properties: { ...properties, [key]: pruned(property, rest) } }
  const { [key]: _, ...others } = properties
  const { required: __, ...loose } = schema
  const needed = required.filter(name => name !== key)
  return { ...loose, properties: others, ...(needed.length > 0 && { required: needed }) }
}
