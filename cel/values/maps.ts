import { keysOf } from '../../framework/json/values.ts'
import { escapedName } from './type.ts'
import { CelError, type CelValue, Double, type MapValue, type TypeAdapter, Uint } from './value.ts'

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
