import { Work } from '../../framework/json/json.ts'
import { sameJsonSteps } from '../../framework/json/same.ts'
import { isObject, type JsonObject, listAt, memberOf, textAt, valueAt } from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { type ErrorSteps, itemErrors } from '../../framework/meta/errorsteps.ts'
import { duplicate, invalidValue, repetitions, required, tooMany } from '../../framework/meta/fielderror.ts'
import { findField, isSchema, type RawSchema } from '../structural/schema.ts'
import { checkStructural } from '../structural/structural.ts'
import { labelErrors } from './names.ts'

/** Validates a version of a CRD or APIResourceSchema, except its schema. */
export function* versionErrors(version: unknown, path: string): ErrorSteps {
  return [
    ...labelErrors(`${path}.name`, textAt(version, 'name')),
    ...deprecationErrors(version, `${path}.deprecationWarning`),
    ...(yield* partErrors(version, path)),
  ]
}

/** Printer columns of a version, far more than real ones have: a row of a Table is made in one step. */
const maxColumns = 2_000

/** Validates subresources and columns. */
export function* partErrors(version: unknown, path: string): ErrorSteps {
  const scale = scaleErrors(valueAt(version, 'subresources', 'scale'), `${path}.subresources.scale`)
  const at = `${path}.additionalPrinterColumns`
  const columns = listAt(version, 'additionalPrinterColumns')
  if (columns.length > maxColumns) return [...scale, tooMany(at, columns.length, maxColumns)]
  return [...scale, ...(yield* itemErrors(columns, (column, i) => columnErrors(column, `${at}[${i}]`)))]
}

/** Versions of a definition, far more than real ones have: each is served by resources of its own in every logical cluster. */
const maxVersions = 200

/** `old`: the versions before an update, which may have been more. */
export const versionCountErrors = (
  versions: readonly unknown[],
  old: readonly unknown[],
  path: string,
): readonly FieldError[] =>
  versions.length > Math.max(maxVersions, old.length) ? [tooMany(path, versions.length, maxVersions)] : []

/** Version names must be unique, and one version must be the storage version. */
export function versionSetErrors(versions: readonly unknown[], path: string): readonly FieldError[] {
  const names = versions.map(version => textAt(version, 'name'))
  const stored = versions.filter(version => memberOf(version, 'storage') === true)
  return [
    ...(new Set(names).size < names.length
      ? [invalidValue(path, names, 'must contain unique version names')]
      : []),
    ...(stored.length === 1
      ? []
      : [invalidValue(path, names, 'must have exactly one version marked as storage version')]),
  ]
}

const unprintable = /[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/u

function deprecationErrors(version: unknown, path: string): readonly FieldError[] {
  const warning = memberOf(version, 'deprecationWarning')
  if (typeof warning !== 'string') return []
  if (memberOf(version, 'deprecated') !== true)
    return [invalidValue(path, warning, 'can only be set for deprecated versions')]
  const at = warning.search(unprintable)
  const index = Buffer.byteLength(warning.slice(0, Math.max(at, 0)))
  const printable = 'must only contain printable UTF-8 characters; non-printable character found at index'
  return [
    ...(Buffer.byteLength(warning) > 256
      ? [invalidValue(path, warning, 'must be <= 256 characters long')]
      : []),
    ...(warning === '' ? [invalidValue(path, warning, 'must not be an empty string')] : []),
    ...(at < 0 ? [] : [invalidValue(path, warning, `${printable} ${index}`)]),
  ]
}

/** The schema of a version must be structural, and its root must allow a status subresource if there is one. */
export function* versionSchemaErrors(schema: unknown, status: boolean, path: string): ErrorSteps {
  const structural = yield* checkStructural(schema, path)
  return status && isSchema(schema) ? [...statusRootErrors(schema, path), ...structural] : structural
}

/** Keywords that are not allowed at the root with a status subresource, which validates the status alone. */
const notWithStatus = [
  'default',
  'enum',
  'nullable',
  'additionalProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'minProperties',
  'maxProperties',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const
const withStatus =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'

function statusRootErrors(schema: RawSchema, path: string): readonly FieldError[] {
  const { type = '' } = schema
  const text = 'of the schema if the status subresource is enabled'
  if (type !== '' && type !== 'object')
    return [invalidValue(`${path}.type`, type, `only "object" is allowed as the type at the root ${text}`)]
  const strange = notWithStatus.find(keyword => schema[keyword] !== undefined && schema[keyword] !== false)
  return strange === undefined
    ? []
    : [invalidValue(path, strange, `only [${withStatus}] fields are allowed at the root ${text}`)]
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

/** Validates an additionalPrinterColumn (rules.md 7.6). */
function columnErrors(column: unknown, path: string): readonly FieldError[] {
  const [type, format, jsonPath] = [
    textAt(column, 'type'),
    textAt(column, 'format'),
    textAt(column, 'jsonPath'),
  ]
  const typeText = `must be one of ${columnTypes.join(',')}`
  const formatText = `must be one of ${columnFormats.join(',')}`
  const isType = columnTypes.includes(type)
  return [
    ...(textAt(column, 'name') === '' ? [required(`${path}.name`)] : []),
    ...(type === '' ? [required(`${path}.type`, typeText)] : []),
    ...(type === '' || isType ? [] : [invalidValue(`${path}.type`, type, typeText)]),
    ...(format === '' || columnFormats.includes(format)
      ? []
      : [invalidValue(`${path}.format`, format, formatText)]),
    ...(jsonPath === '' ? [required(`${path}.JSONPath`)] : simplePathErrors(jsonPath, `${path}.JSONPath`)),
  ]
}

const simplePathErrors = (value: string, path: string): readonly FieldError[] =>
  value.startsWith('.') ? [] : [invalidValue(path, value, 'must be a simple json path starting with .')]

/** Validates the paths of the scale subresource (rules.md 7.8). */
function scaleErrors(scale: unknown, path: string): readonly FieldError[] {
  if (!isObject(scale)) return []
  return [
    ...scalePathErrors(scale, `${path}.specReplicasPath`, ['.spec.']),
    ...scalePathErrors(scale, `${path}.statusReplicasPath`, ['.status.']),
    ...(textAt(scale, 'labelSelectorPath') === ''
      ? []
      : scalePathErrors(scale, `${path}.labelSelectorPath`, ['.spec.', '.status.'])),
  ]
}

function scalePathErrors(scale: unknown, path: string, roots: readonly string[]): readonly FieldError[] {
  const value = textAt(scale, path.slice(path.lastIndexOf('.') + 1))
  if (value === '') return [required(path)]
  const simple = simplePathErrors(value, path)
  if (simple.length > 0) return simple
  if (value.includes('[')) return [invalidValue(path, value, 'must be a json path in the dot notation')]
  if (roots.some(root => value.startsWith(root))) return []
  const where = roots.length > 1 ? 'either .spec or .status' : (roots[0]?.slice(0, -1) ?? '')
  return [invalidValue(path, value, `should be a json path under ${where}`)]
}

const maxSelectableFields = 8
const selectableTypes = ['string', 'boolean', 'integer']

/** Selectable fields must be scalars of the schema (rules.md 7.7). The schema must be structural. */
export function* selectableFieldErrors(
  fields: readonly unknown[],
  schema: RawSchema,
  path: string,
): ErrorSteps {
  const isRepeated = repetitions()
  const found = new Set<string>()
  const errors = yield* itemErrors(fields, (field, i) => {
    const [jsonPath, at] = [textAt(field, 'jsonPath'), `${path}[${i}].jsonPath`]
    if (typeof findField(jsonPath, schema, 'dots') !== 'string') found.add(jsonPath)
    return [
      ...selectableErrors(jsonPath, schema, at),
      ...(isRepeated(jsonPath) ? [duplicate(at, jsonPath)] : []),
    ]
  })
  return found.size > maxSelectableFields
    ? [...errors, tooMany(path, found.size, maxSelectableFields)]
    : errors
}

function selectableErrors(jsonPath: string, schema: RawSchema, path: string): readonly FieldError[] {
  if (jsonPath === '') return [required(path)]
  const found = findField(jsonPath, schema, 'dots')
  if (typeof found === 'string') return [invalidValue(path, jsonPath, `is an invalid path: ${found}`)]
  const typeText =
    'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
  return [
    ...(found.names[0] === 'metadata'
      ? [invalidValue(path, jsonPath, 'must not point to fields in metadata')]
      : []),
    ...(selectableTypes.includes(found.schema.type ?? '') ? [] : [invalidValue(path, jsonPath, typeText)]),
  ]
}

const parts = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields']

export interface Hoisted {
  /** The parts that are equal in all versions. */
  readonly common: JsonObject
  /** The versions without these parts. */
  readonly own: readonly unknown[]
}

/** Kubernetes moves the parts that are equal in all versions to the spec, and reports their errors there. */
export function* hoisted(versions: readonly unknown[]): Generator<void, Hoisted> {
  const [first] = versions
  const alike = new Set<string>()
  for (const part of parts) if (yield* isAlike(versions, part)) alike.add(part)
  return {
    common: isObject(first) ? only(first, part => alike.has(part)) : {},
    own: versions.map(version => (isObject(version) ? only(version, part => !alike.has(part)) : version)),
  }
}

function* isAlike([first, ...others]: readonly unknown[], part: string): Generator<void, boolean> {
  const work = new Work()
  for (const version of others) {
    if (!(yield* sameJsonSteps(memberOf(version, part), memberOf(first, part), work))) return false
    if (work.isStepDone()) yield
  }
  return true
}

const only = (fields: JsonObject, isWanted: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => isWanted(name)))
