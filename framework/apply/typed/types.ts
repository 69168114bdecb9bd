import type { MergeSchema } from '../../meta/mergeschema.ts'
import { objectMetaSchema } from '../../meta/objectmeta.ts'
import { isList, isMembers, isScalar } from '../fieldpath/values.ts'

export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped'

/**
 * What a value may be: a scalar, a list, a map, or several of these, where the value's own shape decides (chapter 40,
 * section 5.4).
 */
export interface MergeType {
  readonly scalar?: Scalar
  readonly list?: ListType
  readonly map?: MapType
}

export interface ListType {
  /** Replaced and owned as a whole; else items are told apart. */
  readonly isAtomic: boolean
  /** By these fields; by their value when there are none. */
  readonly keys: readonly string[]
  readonly sortedKeys: readonly string[]
  readonly item: MergeType
  /** What an item has that does not give this key. */
  keyDefault(name: string): unknown
}

export interface MapType {
  readonly isAtomic: boolean
  /** No fields are declared, and values may be anything. */
  readonly isFree: boolean
  declares(key: string): boolean
  /** undefined: there may be no such key. */
  member(key: string): MergeType | undefined
}

export type Branch = 'scalar' | 'list' | 'map'

/** Anything, owned as a whole. */
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

/** Anything, typed by its shape: maps are merged, lists are whole (rules.md 5.35). */
export const deduced: MergeType = {
  scalar: 'untyped',
  list: { isAtomic: true, keys: [], sortedKeys: [], item: untyped, keyDefault: () => undefined },
  map: { isAtomic: false, isFree: true, declares: () => false, member: () => deduced },
}

const types = new WeakMap<MergeSchema, MergeType>()

/** The type of whole objects with this schema; made once per schema, and below as far as somebody looks. */
export function typeOf(schema: MergeSchema): MergeType {
  const known = types.get(schema)
  if (known !== undefined) return known
  const type = typeFrom(schema, false)
  types.set(schema, type)
  return type
}

/** `preserve`: something above keeps unknown fields, and so does everything below. */
function typeFrom(schema: MergeSchema, preserve: boolean): MergeType {
  const keeps = preserve || schema['x-kubernetes-preserve-unknown-fields'] === true
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

/** Strategies of patches say it where list types do not (rules.md 5.33). */
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

/** The type of keys that are not declared (rules.md 5.34). */
function otherType(
  { additionalProperties }: MergeSchema,
  preserve: boolean,
  hasFields: boolean,
): MergeType | undefined {
  if (additionalProperties === undefined) return preserve || !hasFields ? deduced : undefined
  if (typeof additionalProperties === 'object') return typeFrom(additionalProperties, preserve)
  return additionalProperties ? deduced : undefined
}

/** The branch that fits a value's shape; undefined when none does, and for null and absent values. */
function fittingBranch(type: MergeType, value: unknown): Branch | undefined {
  if (isScalar(value)) return type.scalar && 'scalar'
  if (isList(value)) return type.list && 'list'
  return isMembers(value) ? type.map && 'map' : undefined
}

/** Where values fit no branch, they are looked at as a map if that is possible, else as a scalar, else as a list. */
export const branchOf = (type: MergeType, value: unknown): Branch =>
  fittingBranch(type, value) ?? (type.map ? 'map' : type.scalar ? 'scalar' : 'list')

/** Whether two values are seen as the same kind of thing; a value of several possible kinds is only like itself. */
export function sameBranch(type: MergeType, a: unknown, b: unknown): boolean {
  const isSingle = Object.keys(type).length === 1
  return isSingle || fittingBranch(type, a) === fittingBranch(type, b)
}

/** One thing that does not fit its type. `path` is printed in front: `.spec.ports[name="a"]`. */
export interface Misfit {
  readonly path: string
  readonly text: string
}

/** A value that does not fit its type, in the words of Kubernetes. */
export class TypedError extends Error {
  constructor(misfits: readonly Misfit[]) {
    super(textOf(misfits))
  }
}

function textOf(misfits: readonly Misfit[]): string {
  const texts = misfits.map(({ path, text }) => (path === '' ? text : `${path}: ${text}`))
  return texts.length === 1 ? texts.join('') : ['errors:', ...texts.map(text => `  ${text}`)].join('\n')
}
