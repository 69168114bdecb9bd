import type { ObjectMeta } from '../contract/item.ts'
import { maxDepth } from '../json/json.ts'
import { sameJson } from '../json/same.ts'
import type { Texts } from '../wire/encode.ts'
import type { Relabeling } from '../wire/relabel.ts'

/** A value that JSON cannot represent. The message names its path. */
export class NotJsonError extends Error {}

/** A copy of a JSON value that shares nothing with it. Throws `NotJsonError`; undefined members are dropped. */
export const copyJson = <T>(value: T): T => copied(value, []) as T

function copied(value: unknown, path: (string | number)[]): unknown {
  if (typeof value !== 'object' || value === null) return scalar(value, path)
  if (path.length > maxDepth) throw notJson(path.slice(0, 3), `has more than ${maxDepth} levels`)
  if (Array.isArray(value)) return value.map((item, i) => at(i, item, path))
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function')
    throw notJson(path, `is a ${value.constructor?.name ?? 'class'}`)
  // A spread defines the member __proto__, which an assignment would take for the prototype.
  const copy: Record<string, unknown> = { ...value }
  for (const key in copy) {
    const member = copy[key]
    if (typeof member === 'string') continue
    if (member === undefined) delete copy[key]
    else copy[key] = at(key, member, path)
  }
  return copy
}

function at(key: string | number, value: unknown, path: (string | number)[]): unknown {
  path.push(key)
  const copy = copied(value, path)
  path.pop()
  return copy
}

function scalar(value: unknown, path: readonly (string | number)[]): unknown {
  if (typeof value === 'number' ? Number.isFinite(value) : isScalar(value)) return value
  throw notJson(path, typeof value === 'number' ? `is ${value}` : `is ${named(value)}`)
}

const isScalar = (value: unknown): boolean =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint'

const notJson = (path: readonly (string | number)[], problem: string): NotJsonError =>
  new NotJsonError(`${path.join('.')} ${problem}`)

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isPromise(value)

export const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** Whether a value can be the labels or annotations of an object. */
export const isTexts = (value: unknown): value is Texts =>
  isPlain(value) && Object.values(value).every(text => typeof text === 'string')

/** What a value is, for error texts: `undefined`, `an array`, `a function`. */
export function named(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (isPromise(value)) return 'a promise'
  return typeof value === 'object' ? `an object${classOf(value)}` : `a ${typeof value}`
}

function classOf(value: object): string {
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name
  return typeof name === 'string' && name !== '' && name !== 'Object' ? ` of the class ${name}` : ''
}

export const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function'

/** Metadata for a lens: labels and annotations can be changed without a change of the item. */
export class PrivateMeta implements ObjectMeta {
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  readonly #meta: ObjectMeta
  #labels: Texts | undefined
  #annotations: Texts | undefined

  constructor(meta: ObjectMeta) {
    this.cluster = meta.cluster
    this.namespace = meta.namespace
    this.name = meta.name
    this.#meta = meta
  }
  get uid(): string {
    return this.#meta.uid
  }
  get resourceVersion(): string {
    return this.#meta.resourceVersion
  }
  get labels(): Texts {
    this.#labels ??= { ...this.#meta.labels }
    return this.#labels
  }
  set labels(labels: Texts) {
    this.#labels = labels
  }
  get annotations(): Texts {
    this.#annotations ??= { ...this.#meta.annotations }
    return this.#annotations
  }
  set annotations(annotations: Texts) {
    this.#annotations = annotations
  }

  /** The labels and annotations that were changed in the copy. */
  changes(): Relabeling {
    const [labels, annotations] = [this.#labels, this.#annotations]
    return {
      ...(labels !== undefined && !sameJson(labels, this.#meta.labels) && { labels }),
      ...(annotations !== undefined && !sameJson(annotations, this.#meta.annotations) && { annotations }),
    }
  }
}
