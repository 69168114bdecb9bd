import { isDeepStrictEqual } from 'node:util'
import { patternError } from '../../framework/formats/pattern.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { forbidden, invalidValue, required } from '../../framework/meta/fielderror.ts'
import {
  additionalOf,
  alternativesOf,
  itemsOf,
  key,
  members,
  type RawSchema,
  type RawSchemaCheck,
  type SchemaWalk,
} from './schema.ts'

type Level = 'root' | 'item' | 'field'

/** Validates that a schema is structural, node by node (rules.md 7.10 to 7.12, 7.15). Errors are in any order. */
export function* checkInvariants(
  schema: RawSchema,
  path: string,
  walk: SchemaWalk,
  level: Level = 'root',
): Generator<void> {
  const items = itemsOf(schema)
  const additional = additionalOf(schema)
  if (items !== undefined) yield* checkInvariants(items, `${path}.items`, walk, 'item')
  for (const [name, property] of members(schema.properties))
    yield* checkInvariants(property, key(`${path}.properties`, name), walk, 'field')
  if (additional !== undefined)
    yield* checkInvariants(additional, `${path}.additionalProperties`, walk, 'field')
  walk.add(ownErrors(schema, path, level))
  if (walk.work.isStepDone()) yield
  yield* checkAlternatives(alternativesToCheck(schema, path), walk)
}

const ownErrors = (schema: RawSchema, path: string, level: Level): readonly FieldError[] => [
  ...(schema.type === 'array' && schema.items === undefined
    ? [required(`${path}.items`, 'must be specified')]
    : []),
  ...additionalErrors(schema, path, level),
  ...intOrStringErrors(schema, path),
  ...patternErrors(schema, path),
  ...typeErrors(schema, path, level),
  ...typeMetaErrors(schema, path, level),
  ...metadataErrors(schema, path, level),
  ...embeddedErrors(schema, path),
]

const isEmbedded = (schema: RawSchema): boolean => schema['x-kubernetes-embedded-resource'] === true
const preserves = (schema: RawSchema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true
const isIntOrString = (schema: RawSchema): boolean => schema['x-kubernetes-int-or-string'] === true

function additionalErrors(schema: RawSchema, path: string, level: Level): readonly FieldError[] {
  if (schema.additionalProperties === undefined) return []
  const at = `${path}.additionalProperties`
  return [
    ...(level === 'root' ? [forbidden(at, 'must not be used at the root')] : []),
    ...(isEmbedded(schema)
      ? [forbidden(at, 'must not be used if x-kubernetes-embedded-resource is set')]
      : []),
  ]
}

function intOrStringErrors(schema: RawSchema, path: string): readonly FieldError[] {
  if (!isIntOrString(schema)) return []
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    .filter(keyword => schema[keyword] === true)
    .map(keyword =>
      invalidValue(`${path}.${keyword}`, true, 'must be false if x-kubernetes-int-or-string is true'),
    )
}

const intOrString: readonly RawSchema[] = [{ type: 'integer' }, { type: 'string' }]

type Alternatives = ReturnType<typeof alternativesOf>

/** All alternatives, without the int-or-string pattern, whose alternatives can specify a type. */
function alternativesToCheck(schema: RawSchema, path: string): Alternatives {
  if (isDeepStrictEqual(schema.anyOf, intOrString)) {
    const { anyOf: _, ...rest } = schema
    return alternativesOf(rest, path)
  }
  const [first, ...others] = schema.allOf ?? []
  if (first === undefined || !isDeepStrictEqual(first.anyOf, intOrString)) return alternativesOf(schema, path)
  const { anyOf: _, ...remaining } = first
  return alternativesOf({ ...schema, allOf: [remaining, ...others] }, path)
}

function* checkAlternatives(alternatives: Alternatives, walk: SchemaWalk): Generator<void> {
  for (const [nested, at] of alternatives) yield* checkNested(nested, at, walk)
}

function patternErrors({ pattern = '' }: RawSchema, path: string): readonly FieldError[] {
  const problem = pattern === '' ? undefined : patternError(pattern)
  const text = `must be a valid regular expression, but isn't: ${problem}`
  return problem === undefined ? [] : [invalidValue(`${path}.pattern`, pattern, text)]
}

/** Keywords that are forbidden in nested value validation, with their errors. */
const nestedForbidden: readonly (readonly [
  keyword: keyof RawSchema,
  isSet: (v: unknown) => boolean,
  text: string,
])[] = [
  ['type', value => value !== '', 'must be empty to be structural'],
  ['additionalProperties', value => value !== false, 'must be undefined to be structural'],
  ['default', value => value !== null, 'must be undefined to be structural'],
  ['title', value => value !== '', 'must be empty to be structural'],
  ['description', value => value !== '', 'must be empty to be structural'],
  ['nullable', value => value === true, 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', value => value === true, 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', value => value === true, 'must be false to be structural'],
  ['x-kubernetes-int-or-string', value => value === true, 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', isNonEmptyList, 'must be empty to be structural'],
  ['x-kubernetes-list-type', () => true, 'must be undefined to be structural'],
  ['x-kubernetes-map-type', () => true, 'must be undefined to be structural'],
  ['x-kubernetes-validations', isNonEmptyList, 'must be empty to be structural'],
]

function isNonEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}

function* checkNested(schema: RawSchema, path: string, walk: SchemaWalk): Generator<void> {
  const items = itemsOf(schema)
  yield* checkAlternatives(alternativesOf(schema, path), walk)
  if (items !== undefined) yield* checkNested(items, `${path}.items`, walk)
  for (const [name, property] of members(schema.properties))
    yield* checkNested(property, key(`${path}.properties`, name), walk)
  walk.add(nestedErrors(schema, path))
  if (walk.work.isStepDone()) yield
}

const nestedErrors: RawSchemaCheck = (schema, path) => [
  ...patternErrors(schema, path),
  ...nestedForbidden
    .filter(([keyword, isSet]) => schema[keyword] !== undefined && isSet(schema[keyword]))
    .map(([keyword, , text]) => forbidden(`${path}.${keyword}`, text)),
  ...(schema.properties !== undefined && Object.hasOwn(schema.properties, 'metadata')
    ? [forbidden(key(`${path}.properties`, 'metadata'), 'must not be specified in a nested context')]
    : []),
]

const emptyType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function typeErrors(schema: RawSchema, path: string, level: Level): readonly FieldError[] {
  const at = `${path}.type`
  const type = schema.type ?? ''
  if (isEmbedded(schema) && type !== 'object') {
    const text = 'must be object if x-kubernetes-embedded-resource is true'
    return [type === '' ? required(at, text) : invalidValue(at, type, text)]
  }
  if (type === '') return isIntOrString(schema) || preserves(schema) ? [] : [required(at, emptyType[level])]
  return level === 'root' && type !== 'object' ? [invalidValue(at, type, 'must be object at the root')] : []
}

function typeMetaErrors(schema: RawSchema, path: string, level: Level): readonly FieldError[] {
  if (level !== 'root' && !isEmbedded(schema)) return []
  return ['kind', 'apiVersion'].flatMap(name => {
    const type = schema.properties?.[name]?.type ?? ''
    return schema.properties?.[name] === undefined || type === 'string'
      ? []
      : [invalidValue(`${key(`${path}.properties`, name)}.type`, type, 'must be string')]
  })
}

/** The metadata of the root can only restrict name and generateName. */
function metadataErrors(schema: RawSchema, path: string, level: Level): readonly FieldError[] {
  const metadata = schema.properties?.metadata
  if (metadata === undefined) return []
  const at = key(`${path}.properties`, 'metadata')
  const { type = '', properties = {}, default: _, ...rest } = metadata
  const isFree = Object.keys(properties).every(name => name === 'name' || name === 'generateName')
  const text =
    'must not specify anything other than name and generateName, but metadata is implicitly specified'
  return [
    ...((level === 'root' || isEmbedded(schema)) && type !== 'object'
      ? [invalidValue(`${at}.type`, type, 'must be object')]
      : []),
    ...(level === 'root' && !(isFree && Object.keys(rest).length === 0) ? [forbidden(at, text)] : []),
  ]
}

const embeddedErrors: RawSchemaCheck = (schema, path) =>
  isEmbedded(schema) && !preserves(schema) && Object.keys(schema.properties ?? {}).length === 0
    ? [
        required(
          `${path}.properties`,
          'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
        ),
      ]
    : []

/** A node of the structural schema and its path; undefined if the node is missing. */
type Place = readonly [schema: RawSchema | undefined, path: string]

/**
 * A field that is constrained in allOf, anyOf, oneOf or not must also be specified outside of them (rules.md 7.12). Like
 * Kubernetes, this validates those of the root only. Errors are in any order.
 */
export function* checkCompleteness(schema: RawSchema, path: string, walk: SchemaWalk): Generator<void> {
  for (const [nested, at] of alternativesOf(schema, path))
    yield* checkSpecified(nested, at, [schema, path], walk)
}

function* checkSpecified(nested: RawSchema, at: string, place: Place, walk: SchemaWalk): Generator<void> {
  const [schema, path] = place
  if (walk.work.isStepDone()) yield
  if (schema === undefined) {
    walk.errors.push(required(path, `because it is defined in ${at}`))
    return
  }
  const items = itemsOf(nested)
  for (const [deeper, there] of alternativesOf(nested, at)) yield* checkSpecified(deeper, there, place, walk)
  if (items !== undefined)
    yield* checkSpecified(items, `${at}.items`, [itemsOf(schema), `${path}.items`], walk)
  for (const [name, property] of members(nested.properties)) {
    const own = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined
    const below = [own, key(`${path}.properties`, name)] as const
    yield* checkSpecified(property, key(`${at}.properties`, name), below, walk)
  }
}
