import { canonicalJson } from '../../framework/json/json.ts'
import { append, isObject, LazyMembers, lazily, memberOf } from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { child, duplicate, invalidValue, required } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  labelValueErrors,
  pathSegmentErrors,
  pathSegmentNameErrors,
  qualifiedNameErrors,
} from '../../framework/meta/names.ts'
import {
  controllersProblem,
  isGroupVersion,
  type OwnerReference,
  ownerProblems,
} from '../../framework/meta/object.ts'
import { CompiledSize, nodesWith } from '../nodes/nodes.ts'

/** A path with map keys as `[key]` (rules.md 2.22), formatted for errors only. */
type Path = () => string

/** Appends the errors of the value at a path. */
export type StructureCheck = (value: unknown, path: Path, errors: FieldError[]) => void

/** The check of one node, if its schema needs it. */
export type NodeCheck = (schema: JSONSchemaProps) => StructureCheck | undefined

interface Below {
  readonly known: LazyMembers<JSONSchemaProps, StructureCheck | undefined>
  readonly other: StructureCheck | undefined
  readonly items: StructureCheck | undefined
}

/**
 * Compiles a check of some nodes in the structural part of a schema (outside of allOf, anyOf, oneOf and not), in steps, and what is
 * below its properties when it is needed. undefined if no node needs it.
 */
export function* compileStructure(
  schema: JSONSchemaProps,
  nodeCheck: NodeCheck,
  size = new CompiledSize(),
): Generator<void, StructureCheck | undefined> {
  const checked = yield* nodesWith(schema, node => nodeCheck(node) !== undefined)
  size.nodes += checked.size / 16
  return compileNode(schema, nodeCheck, checked)
}

function compileNode(
  schema: JSONSchemaProps,
  nodeCheck: NodeCheck,
  checked: ReadonlySet<JSONSchemaProps>,
): StructureCheck | undefined {
  if (!checked.has(schema)) return undefined
  const own = nodeCheck(schema)
  const compile = (below: JSONSchemaProps) => compileNode(below, nodeCheck, checked)
  const below = lazily(() => belowOf(schema, compile))
  return (value, path, errors) => {
    own?.(value, path, errors)
    if (Array.isArray(value)) checkItems(below(), value, path, errors)
    else if (isObject(value)) checkMembers(below(), value, path, errors)
  }
}

function belowOf(
  { properties, additionalProperties: other, items }: JSONSchemaProps,
  compile: (schema: JSONSchemaProps) => StructureCheck | undefined,
): Below {
  return {
    known: new LazyMembers(properties, compile),
    other: isObject(other) ? compile(other) : undefined,
    items: items === undefined ? undefined : compile(items),
  }
}

function checkItems({ items }: Below, list: readonly unknown[], path: Path, errors: FieldError[]): void {
  if (items === undefined) return
  list.forEach((item, i) => {
    items(item, () => `${path()}[${i}]`, errors)
  })
}

function checkMembers(below: Below, object: object, path: Path, errors: FieldError[]): void {
  for (const [key, value] of Object.entries(object)) {
    const known = below.known.get(key)
    if (known !== undefined) known(value, () => child(path(), key), errors)
    else below.other?.(value, () => `${path()}[${key}]`, errors)
  }
}

/** `x-kubernetes-embedded-resource`: requires apiVersion and kind, and validates metadata. */
export const embeddedCheck = (schema: JSONSchemaProps): StructureCheck | undefined =>
  schema['x-kubernetes-embedded-resource'] === true
    ? (value, path, errors) => append(errors, embeddedErrors(value, path()))
    : undefined

function embeddedErrors(value: unknown, path: string): readonly FieldError[] {
  if (!isObject(value)) return []
  return [
    ...apiVersionErrors(`${path}.apiVersion`, value.apiVersion),
    ...kindErrors(`${path}.kind`, value.kind),
    ...metadataErrors(`${path}.metadata`, value.metadata),
  ]
}

function textErrors(path: string, value: unknown): readonly FieldError[] | undefined {
  if (value === undefined) return [required(path)]
  if (typeof value !== 'string') return [invalidValue(path, value, 'must be a string')]
  return value === '' ? [invalidValue(path, value, 'must not be empty')] : undefined
}

const apiVersionErrors = (path: string, value: unknown): readonly FieldError[] =>
  textErrors(path, value) ??
  (isGroupVersion(String(value))
    ? []
    : [invalidValue(path, value, `unexpected GroupVersion string: ${value}`)])

const kindErrors = (path: string, value: unknown): readonly FieldError[] =>
  textErrors(path, value) ?? kindNameErrors(path, String(value))

/** Validates the name of a kind. */
export function kindNameErrors(path: string, value: string): readonly FieldError[] {
  const errors = dns1035LabelErrors(value.toLowerCase())
  const text = `may have mixed case, but should otherwise match: ${errors.join(',')}`
  return errors.length === 0 ? [] : [invalidValue(path, value, text)]
}

const invalidTexts = (
  path: string,
  value: string,
  check: (value: string) => readonly string[],
): FieldError[] => check(value).map(text => invalidValue(path, value, text))

/** Names of embedded objects are validated as path segments, because their kind is unknown. */
function metadataErrors(path: string, metadata: unknown): readonly FieldError[] {
  const name = memberOf(metadata, 'name')
  const prefix = String(memberOf(metadata, 'generateName') ?? '')
  const namespace = memberOf(metadata, 'namespace') ?? ''
  const labels = Object.entries(memberOf(metadata, 'labels') ?? {})
  const annotations = Object.keys(memberOf(metadata, 'annotations') ?? {})
  const finalizers = (memberOf(metadata, 'finalizers') ?? []) as readonly string[]
  const owners = (memberOf(metadata, 'ownerReferences') ?? []) as readonly OwnerReference[]
  return [
    ...invalidTexts(`${path}.generateName`, prefix, text => pathSegmentNameErrors(text, 'generateName')),
    ...(typeof name === 'string' ? invalidTexts(`${path}.name`, name, pathSegmentErrors) : []),
    ...(namespace === '' ? [] : invalidTexts(`${path}.namespace`, String(namespace), dns1123LabelErrors)),
    ...labels.flatMap(([key, value]) => [
      ...invalidTexts(`${path}.labels`, key, qualifiedNameErrors),
      ...invalidTexts(`${path}.labels`, String(value), labelValueErrors),
    ]),
    ...annotations.flatMap(key =>
      invalidTexts(`${path}.annotations`, key.toLowerCase(), qualifiedNameErrors),
    ),
    ...ownerErrors(`${path}.ownerReferences`, owners),
    ...finalizers.flatMap(name => invalidTexts(`${path}.finalizers`, name, qualifiedNameErrors)),
  ]
}

function ownerErrors(path: string, owners: readonly OwnerReference[]): readonly FieldError[] {
  const together = controllersProblem(owners)
  return [
    ...owners.flatMap(owner =>
      ownerProblems(owner).map(([field, problem]) =>
        invalidValue(field ? `${path}.${field}` : path, field ? (owner[field] ?? '') : owner, problem),
      ),
    ),
    ...(together === undefined ? [] : [invalidValue(path, owners, together)]),
  ]
}

/** Lists of type set must not have equal items, lists of type map no items with equal keys. */
export function uniquenessCheck(schema: JSONSchemaProps): StructureCheck | undefined {
  const type = schema['x-kubernetes-list-type']
  if (type === 'set') return (value, path, errors) => append(errors, checkSet(value, path))
  if (type !== 'map') return undefined
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  return (value, path, errors) => append(errors, checkMap(value, path, keys))
}

/** Reports each duplicate value once, at its second occurrence. */
function repetitions(values: readonly unknown[], path: Path): readonly FieldError[] {
  if (areDifferentTexts(values)) return []
  const counts = new Map<string, number>()
  return values.flatMap((value, i) => {
    const text = canonicalJson(value)
    const count = (counts.get(text) ?? 0) + 1
    counts.set(text, count)
    return count === 2 ? [duplicate(`${path()}[${i}]`, value)] : []
  })
}

function areDifferentTexts(values: readonly unknown[]): boolean {
  return values.every(value => typeof value === 'string') && new Set(values).size === values.length
}

const checkSet = (value: unknown, path: Path): readonly FieldError[] =>
  Array.isArray(value) && value.length > 1 ? repetitions(value, path) : []

function checkMap(value: unknown, path: Path, keys: readonly string[]): readonly FieldError[] {
  if (!Array.isArray(value)) return []
  const invalidIndex = value.findIndex(item => item !== null && !isObject(item))
  if (invalidIndex >= 0)
    return [
      invalidValue(
        `${path()}[${invalidIndex}]`,
        value[invalidIndex],
        'must be an object for an array of list-type map',
      ),
    ]
  if (value.length <= 1) return []
  const [key = '', ...others] = keys
  if (others.length === 0 && areDifferentTexts(value.map(item => memberOf(item, key)))) return []
  return repetitions(
    value.map(item => keysOf(item, keys)),
    path,
  )
}

/** The keys of an item, sorted as Go prints maps. */
const keysOf = (item: unknown, keys: readonly string[]): unknown =>
  Object.fromEntries(
    [...keys]
      .sort()
      .map(key => [key, memberOf(item, key)])
      .filter(([, value]) => value !== undefined),
  )
