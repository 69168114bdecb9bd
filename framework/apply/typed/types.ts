import type { MergeSchema } from '../../meta/mergeschema.ts'
import { objectMetaSchema } from '../../meta/objectmeta.ts'
import { isList, isMembers, isScalar } from '../fieldpath/fieldpath.ts'

export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped'

/**
 * The type of a value: a scalar, a list, a map, or several of these, of which the value decides (`schema.Atom` of
 * structured-merge-diff).
 */
export interface MergeType {
  readonly scalar?: Scalar
  readonly list?: ListType
  readonly map?: MapType
}

export interface ListType {
  /** Replaced and owned as a whole; otherwise items are merged. */
  readonly isAtomic: boolean
  /** The key fields of items; items are identified by their value if there are none. */
  readonly keys: readonly string[]
  readonly sortedKeys: readonly string[]
  readonly item: MergeType
  /** The value of a key that an item does not have. */
  keyDefault(name: string): unknown
}

export interface MapType {
  readonly isAtomic: boolean
  /** No fields are declared, and values have any type. */
  readonly isFree: boolean
  declares(key: string): boolean
  /** undefined: the key is not allowed. */
  member(key: string): MergeType | undefined
}

export type Branch = 'scalar' | 'list' | 'map'

/** Any value, owned as a whole. */
const untyped: MergeType = {
  scalar: 'untyped',
  list: {
    isAtomic: true,
    keys: [],
    sortedKeys: [],
    get item() {
      return untyped
    },
    keyDefault: () => undefined,
  },
  map: { isAtomic: true, isFree: false, declares: () => false, member: () => untyped },
}

/** A type deduced from the value: maps are merged, lists are atomic (rules.md 5.35). */
export const deduced: MergeType = {
  scalar: 'untyped',
  list: { isAtomic: true, keys: [], sortedKeys: [], item: untyped, keyDefault: () => undefined },
  map: { isAtomic: false, isFree: true, declares: () => false, member: () => deduced },
}

const types = new WeakMap<MergeSchema, MergeType>()

/** The type of objects with this schema; computed once per schema, below it on demand. */
export function typeOf(schema: MergeSchema): MergeType {
  const known = types.get(schema)
  if (known !== undefined) return known
  const type = typeFrom(schema, false)
  types.set(schema, type)
  return type
}

/** `preserve`: a parent preserves unknown fields, and so do all of its children, except for ObjectMeta. */
function typeFrom(schema: MergeSchema, preserve: boolean): MergeType {
  const keeps =
    schema !== objectMetaSchema && (preserve || schema['x-kubernetes-preserve-unknown-fields'] === true)
  switch (schema.type) {
    case 'object':
      return { map: mapFrom(schema, keeps) }
    case 'array':
      return { list: listFrom(schema, keeps) }
    case undefined:
      return { scalar: 'untyped', list: listFrom(schema, keeps), map: mapFrom(schema, keeps) }
    default:
      return { scalar: scalarFrom(schema) }
  }
}

function scalarFrom({ type, format = '' }: MergeSchema): Scalar {
  if (type === 'integer' || type === 'number') return 'numeric'
  if (type === 'boolean') return 'boolean'
  return type === 'string' && (format === '' || format === 'byte') ? 'string' : 'untyped'
}

function listFrom(schema: MergeSchema, preserve: boolean): ListType {
  const { items } = schema
  const keys = keysOf(schema)
  let item: MergeType | undefined
  return {
    isAtomic: !isAssociative(schema),
    keys,
    sortedKeys: [...keys].sort(),
    get item() {
      item ??= items === undefined ? untyped : typeFrom(items, preserve)
      return item
    },
    keyDefault: name => items?.properties?.[name]?.default,
  }
}

/** Patch strategies decide if the list type is not set (rules.md 5.33). */
function isAssociative(schema: MergeSchema): boolean {
  const type = schema['x-kubernetes-list-type']
  if (type !== undefined) return type === 'set' || type === 'map'
  const strategy = schema['x-kubernetes-patch-strategy']
  return strategy === 'merge' || strategy === 'merge,retainKeys'
}

function keysOf(schema: MergeSchema): readonly string[] {
  if (schema['x-kubernetes-list-type'] !== undefined) {
    return schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : []
  }
  const key = schema['x-kubernetes-patch-merge-key']
  return key === undefined ? [] : [key]
}

const text: MergeSchema = { type: 'string' }
const embedded = { apiVersion: text, kind: text, metadata: objectMetaSchema }

function mapFrom(schema: MergeSchema, preserve: boolean): MapType {
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const properties = isEmbedded ? { ...schema.properties, ...embedded } : (schema.properties ?? {})
  const declares = (key: string): boolean => Object.hasOwn(properties, key)
  const hasFields = Object.keys(properties).length > 0
  const members = new Map<string, MergeType>()
  const other = memoized(() => otherType(schema, preserve, hasFields))
  return {
    isAtomic: schema['x-kubernetes-map-type'] === 'atomic',
    get isFree() {
      return !hasFields && other()?.scalar === 'untyped'
    },
    declares,
    member: key => {
      const property = declares(key) ? properties[key] : undefined
      if (property === undefined) return other()
      const type = members.get(key) ?? typeFrom(property, preserve)
      members.set(key, type)
      return type
    },
  }
}

function memoized<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** The type of undeclared keys (rules.md 5.34). */
function otherType(
  { additionalProperties }: MergeSchema,
  preserve: boolean,
  hasFields: boolean,
): MergeType | undefined {
  if (additionalProperties === undefined) return preserve || !hasFields ? deduced : undefined
  if (typeof additionalProperties === 'object') return typeFrom(additionalProperties, preserve)
  return additionalProperties ? deduced : undefined
}

/** The branch that fits the value; undefined if none fits, and for null and absent values. */
function fittingBranch(type: MergeType, value: unknown): Branch | undefined {
  if (isScalar(value)) return type.scalar && 'scalar'
  if (isList(value)) return type.list && 'list'
  return isMembers(value) ? type.map && 'map' : undefined
}

/** A value that fits no branch is treated as a map if the type has one, else as a scalar, else as a list. */
export const branchOf = (type: MergeType, value: unknown): Branch =>
  fittingBranch(type, value) ?? (type.map ? 'map' : type.scalar ? 'scalar' : 'list')

/** Whether two values have the same branch. */
export function sameBranch(type: MergeType, a: unknown, b: unknown): boolean {
  const isSingle = Object.keys(type).length === 1
  return isSingle || fittingBranch(type, a) === fittingBranch(type, b)
}

/** One value that does not fit its type. `path` is printed in front: `.spec.ports[name="a"]`. */
export interface Misfit {
  readonly path: string
  readonly text: string
}

/** A value does not fit its type; the message is that of structured-merge-diff. */
export class TypedError extends Error {
  constructor(misfits: readonly Misfit[]) {
    super(textOf(misfits))
  }
}

function textOf(misfits: readonly Misfit[]): string {
  const texts = misfits.map(({ path, text }) => (path === '' ? text : `${path}: ${text}`))
  return texts.length === 1 ? texts.join('') : ['errors:', ...texts.map(text => `  ${text}`)].join('\n')
}
