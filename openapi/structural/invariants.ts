import { isDeepStrictEqual } from 'node:util'
import { patternError } from '../../framework/formats/pattern.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { forbidden, invalidValue, required } from '../../framework/meta/fielderror.ts'
import { additionalOf, alternativesOf, itemsOf, key, type RawSchema, type RawSchemaCheck } from './schema.ts'

type Level = 'root' | 'item' | 'field'

/** Validates that a schema is structural, node by node (rules.md 7.10 to 7.12, 7.15). */
export function invariantErrors(
  schema: RawSchema,
  path: string,
  level: Level = 'root',
): readonly FieldError[] {
  const items = itemsOf(schema)
  const additional = additionalOf(schema)
  return [
    ...(schema.type === 'array' && schema.items === undefined
      ? [required(`${path}.items`, 'must be specified')]
      : []),
    ...(items === undefined ? [] : invariantErrors(items, `${path}.items`, 'item')),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      invariantErrors(property, key(`${path}.properties`, name), 'field'),
    ),
    ...(additional === undefined ? [] : invariantErrors(additional, `${path}.additionalProperties`, 'field')),
    ...additionalErrors(schema, path, level),
    ...intOrStringErrors(schema, path),
    ...valueErrors(schema, path, alternativesToCheck(schema, path)),
    ...typeErrors(schema, path, level),
    ...typeMetaErrors(schema, path, level),
    ...metadataErrors(schema, path, level),
    ...embeddedErrors(schema, path),
  ]
}

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

/** All alternatives, without the int-or-string pattern, whose alternatives can specify a type. */
function alternativesToCheck(schema: RawSchema, path: string): readonly (readonly [RawSchema, string])[] {
  const { anyOf, ...rest } = schema
  const [first, ...others] = schema.allOf ?? []
  if (isDeepStrictEqual(anyOf, intOrString)) return alternativesOf(rest, path)
  if (first === undefined || !isDeepStrictEqual(first.anyOf, intOrString)) return alternativesOf(schema, path)
  const { anyOf: _, ...remaining } = first
  return alternativesOf({ ...schema, allOf: [remaining, ...others] }, path)
}

function valueErrors(
  schema: RawSchema,
  path: string,
  alternatives: readonly (readonly [RawSchema, string])[],
): readonly FieldError[] {
  const { pattern = '' } = schema
  const problem = pattern === '' ? undefined : patternError(pattern)
  return [
    ...alternatives.flatMap(([nested, at]) => nestedErrors(nested, at)),
    ...(problem === undefined
      ? []
      : [
          invalidValue(
            `${path}.pattern`,
            pattern,
            `must be a valid regular expression, but isn't: ${problem}`,
          ),
        ]),
  ]
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

const nestedErrors: RawSchemaCheck = (schema, path) => {
  const items = itemsOf(schema)
  const properties = Object.entries(schema.properties ?? {})
  const forbiddenHere = nestedForbidden.filter(
    ([keyword, isSet]) => schema[keyword] !== undefined && isSet(schema[keyword]),
  )
  return [
    ...valueErrors(schema, path, alternativesOf(schema, path)),
    ...(items === undefined ? [] : nestedErrors(items, `${path}.items`)),
    ...properties.flatMap(([name, property]) => nestedErrors(property, key(`${path}.properties`, name))),
    ...forbiddenHere.map(([keyword, , text]) => forbidden(`${path}.${keyword}`, text)),
    ...(schema.properties !== undefined && Object.hasOwn(schema.properties, 'metadata')
      ? [forbidden(key(`${path}.properties`, 'metadata'), 'must not be specified in a nested context')]
      : []),
  ]
}

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
 * Kubernetes, this validates those of the root only.
 */
export const completenessErrors = (schema: RawSchema, path: string): readonly FieldError[] =>
  alternativesOf(schema, path).flatMap(([nested, at]) => unspecifiedErrors(nested, at, [schema, path]))

function unspecifiedErrors(nested: RawSchema, at: string, place: Place): readonly FieldError[] {
  const [schema, path] = place
  if (schema === undefined) return [required(path, `because it is defined in ${at}`)]
  const items = itemsOf(nested)
  return [
    ...alternativesOf(nested, at).flatMap(([deeper, there]) => unspecifiedErrors(deeper, there, place)),
    ...(items === undefined
      ? []
      : unspecifiedErrors(items, `${at}.items`, [itemsOf(schema), `${path}.items`])),
    ...Object.entries(nested.properties ?? {}).flatMap(([name, property]) => {
      const own = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined
      return unspecifiedErrors(property, key(`${at}.properties`, name), [
        own,
        key(`${path}.properties`, name),
      ])
    }),
  ]
}
