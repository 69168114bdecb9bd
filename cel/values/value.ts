import { keysOf } from '../../framework/json/values.ts'
import { type CelType, escapedName } from './type.ts'

/**
 * A value of an expression. Strings, booleans, null and lists are JavaScript values; an int is a number where that is
 * exact, and otherwise a bigint; all others have a class. Errors are values, too: `||` and `&&` can ignore them.
 */
export type CelValue =
  | null
  | boolean
  | string
  | number
  | bigint
  | Double
  | Uint
  | Uint8Array
  | CelDuration
  | CelTimestamp
  | readonly CelValue[]
  | ListView
  | MapValue
  | Optional
  | TypeValue
  | OpaqueValue
  | StructValue
  | UntypedValue
  | CelError

/** An evaluation error. */
export class CelError {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

export const noSuchOverload = new CelError('no such overload')

export class Double {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

export class Uint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** A `google.protobuf.Duration`, in nanoseconds. */
export class CelDuration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** A `google.protobuf.Timestamp`: seconds since 1970, nanoseconds of the second, original UTC offset in seconds. */
export class CelTimestamp {
  readonly seconds: number
  readonly nanos: number
  readonly offset: number
  constructor(seconds: number, nanos: number, offset = 0) {
    this.seconds = seconds
    this.nanos = nanos
    this.offset = offset
  }
}

/** Converts JSON to a value according to its schema. */
export type TypeAdapter = (raw: unknown) => CelValue

/** The list type, by which lists are compared and added. */
export type ListKind =
  | { readonly type: 'atomic' }
  | { readonly type: 'set' }
  | { readonly type: 'map'; keyOf(raw: unknown): string }

/** A list of JSON whose items are converted when they are first read. */
export class ListView {
  readonly raw: readonly unknown[]
  readonly adapt: TypeAdapter
  readonly kind: ListKind
  readonly #items: CelValue[] = []
  constructor(raw: readonly unknown[], adapt: TypeAdapter, kind: ListKind) {
    this.raw = raw
    this.adapt = adapt
    this.kind = kind
  }
  at(index: number): CelValue {
    const known = this.#items[index]
    if (known !== undefined) return known
    const value = this.adapt(this.raw[index])
    this.#items[index] = value
    return value
  }
}

/** A map or an object. */
export interface MapValue {
  readonly isMap: true
  readonly size: number
  /** undefined if there is no such key. */
  get(key: CelValue): CelValue | undefined
  keys(): readonly CelValue[]
}

const isInt = (key: CelValue): key is number | bigint => typeof key === 'number' || typeof key === 'bigint'

/** Equal keys have equal texts, such as 1, 1u and 1.0. undefined for values that cannot be keys. */
function keyText(key: CelValue): string | undefined {
  if (typeof key === 'string') return `s${key}`
  if (typeof key === 'boolean') return `b${key}`
  if (isInt(key)) return `n${key}`
  if (key instanceof Uint) return `n${key.value}`
  if (key instanceof Double) return Number.isInteger(key.value) ? `n${BigInt(key.value)}` : `d${key.value}`
  return undefined
}

/** A map that an expression constructs. */
export class LiteralMap implements MapValue {
  readonly isMap = true
  readonly #entries: ReadonlyMap<string, readonly [CelValue, CelValue]>
  private constructor(entries: ReadonlyMap<string, readonly [CelValue, CelValue]>) {
    this.#entries = entries
  }
  /** The last of equal keys wins; an error for values that cannot be keys. */
  static of(pairs: Iterable<readonly [CelValue, CelValue]>): LiteralMap | CelError {
    const entries = new Map<string, readonly [CelValue, CelValue]>()
    for (const pair of pairs) {
      const text = keyText(pair[0])
      if (text === undefined || pair[0] instanceof Double) return new CelError('unsupported key type')
      entries.set(text, pair)
    }
    return new LiteralMap(entries)
  }
  static readonly empty = new LiteralMap(new Map())
  /** A copy, which `insert` can change. */
  copy(): LiteralMap {
    return new LiteralMap(new Map(this.#entries))
  }
  /** Changes the map in place: only for accumulators of comprehensions, which expressions cannot access otherwise. */
  insert(key: CelValue, value: CelValue): CelError | undefined {
    const text = keyText(key)
    if (text === undefined) return new CelError('unsupported key type')
    if (this.#entries.has(text)) return new CelError(`insert failed: key ${text.slice(1)} already exists`)
    const entries = this.#entries as Map<string, readonly [CelValue, CelValue]>
    entries.set(text, [key, value])
    return undefined
  }
  get size(): number {
    return this.#entries.size
  }
  get(key: CelValue): CelValue | undefined {
    const text = keyText(key)
    return text === undefined ? undefined : this.#entries.get(text)?.[1]
  }
  keys(): readonly CelValue[] {
    return [...this.#entries.values()].map(([key]) => key)
  }
}

/** A JSON object whose schema has additionalProperties. */
export class MapView implements MapValue {
  readonly isMap = true
  readonly raw: Readonly<Record<string, unknown>>
  readonly adapt: TypeAdapter
  readonly #values = new Map<string, CelValue>()
  #keys: readonly string[] | undefined
  constructor(raw: Readonly<Record<string, unknown>>, adapt: TypeAdapter) {
    this.raw = raw
    this.adapt = adapt
  }
  get size(): number {
    return this.keys().length
  }
  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined
    const known = this.#values.get(key)
    if (known !== undefined) return known
    if (!Object.hasOwn(this.raw, key)) return undefined
    const value = this.adapt(this.raw[key])
    this.#values.set(key, value)
    return value
  }
  keys(): readonly string[] {
    this.#keys ??= keysOf(this.raw)
    return this.#keys
  }
}

/** A field of an object as a schema declares it. */
export interface FieldView {
  readonly key: string
  readonly adapt: TypeAdapter
}

/** A JSON object whose schema has properties. Keys are escaped names; null members are absent. */
export class ObjectView implements MapValue {
  readonly isMap = true
  readonly raw: Readonly<Record<string, unknown>>
  readonly fields: ReadonlyMap<string, FieldView>
  readonly #values = new Map<string, CelValue>()
  constructor(raw: Readonly<Record<string, unknown>>, fields: ReadonlyMap<string, FieldView>) {
    this.raw = raw
    this.fields = fields
  }
  get size(): number {
    return keysOf(this.raw).length
  }
  get(name: CelValue): CelValue | undefined {
    if (typeof name !== 'string') return undefined
    const field = this.fields.get(name)
    if (field === undefined || !Object.hasOwn(this.raw, field.key)) return undefined
    const raw = this.raw[field.key]
    if (typeof raw !== 'object') return raw === undefined ? undefined : field.adapt(raw)
    if (raw === null) return undefined
    const known = this.#values.get(name)
    if (known !== undefined) return known
    const value = field.adapt(raw)
    this.#values.set(name, value)
    return value
  }
  keys(): readonly string[] {
    return keysOf(this.raw).flatMap(key => {
      const name = escapedName(key)
      return name !== undefined && this.fields.has(name) ? [name] : []
    })
  }
}

export class Optional {
  /** undefined for optional.none(). */
  readonly value: CelValue | undefined
  private constructor(value: CelValue | undefined) {
    this.value = value
  }
  static readonly none = new Optional(undefined)
  static of(value: CelValue): Optional {
    return new Optional(value)
  }
}

/** A type as a value: the value of `type(x)` and of names such as `int`. */
export class TypeValue {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** A value of a library: URL, Quantity, IP. */
export interface OpaqueValue {
  readonly opaque: CelType
  equals(other: OpaqueValue): boolean
  /** Its size, if costs depend on it. */
  readonly size?: number
}

/** An object that an expression constructs: `Object.spec{replicas: 1}`. */
export class StructValue {
  readonly type: string
  readonly fields: ReadonlyMap<string, CelValue>
  constructor(type: string, fields: ReadonlyMap<string, CelValue>) {
    this.type = type
    this.fields = fields
  }
}

/** JSON without a schema, which expressions can only compare. */
export class UntypedValue {
  readonly raw: unknown
  constructor(raw: unknown) {
    this.raw = raw
  }
}

export const isList = (value: CelValue): value is readonly CelValue[] | ListView =>
  Array.isArray(value) || value instanceof ListView

export const isMap = (value: CelValue): value is MapValue =>
  typeof value === 'object' && value !== null && 'isMap' in value

export const isOpaque = (value: CelValue): value is OpaqueValue =>
  typeof value === 'object' && value !== null && 'opaque' in value

export const sizeOf = (list: readonly CelValue[] | ListView): number =>
  list instanceof ListView ? list.raw.length : list.length

/** An item by its index, which must be within bounds. */
export const itemAt = (list: readonly CelValue[] | ListView, index: number): CelValue =>
  list instanceof ListView ? list.at(index) : (list[index] as CelValue)

export function* itemsOf(list: readonly CelValue[] | ListView): Generator<CelValue, void, undefined> {
  for (let i = 0; i < sizeOf(list); i++) yield itemAt(list, i)
}
