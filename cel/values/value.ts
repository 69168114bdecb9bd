import type { CelType } from './type.ts'

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
