import { jsonErrorSteps, parseExactSteps } from './exactjson.ts'
import { isMembers } from './values.ts'

/**
 * The maximum nesting of a document: more than any schema needs, less than a recursive reader can overflow its stack
 * with.
 */
export const maxDepth = 256

/** Findings of one pass over the bytes of a JSON text, without building values. Undefined for text that is not JSON. */
export interface Survey {
  /** Object members, repeated keys included. */
  readonly members: number
  /** Values at all levels, at least as many as there are. */
  readonly values: number
  readonly depth: number
  /** A number may be changed by `JSON.parse`: it has 16 digits or more, or an exponent. */
  readonly exact: boolean
}

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const comma = 0x2c
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39
export const isOpening = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b
export const isClosing = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d

/** The index behind the string that starts at `start`. */
export function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at + 1
}

export function survey(bytes: Uint8Array): Survey {
  const found = new Surveyor(bytes)
  found.readTo(bytes.length)
  return found
}

/** Bytes that are surveyed in less than a millisecond. */
const surveyedAtOnce = 64 * 1024

/** What `survey` returns, in steps. */
export function* surveySteps(bytes: Uint8Array): Generator<void, Survey> {
  const found = new Surveyor(bytes)
  for (let end = surveyedAtOnce; end < bytes.length; end += surveyedAtOnce) {
    found.readTo(end)
    yield
  }
  found.readTo(bytes.length)
  return found
}

class Surveyor implements Survey {
  members = 0
  values = 1
  depth = 0
  exact = false
  readonly #bytes: Uint8Array
  #at = 0
  #open = 0
  #digits = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Reads on, to this index or to the end of the string there. */
  readTo(end: number): void {
    const bytes = this.#bytes
    let [at, open, digits] = [this.#at, this.#open, this.#digits]
    for (; at < end; at++) {
      const byte = bytes[at]
      if (isDigit(byte)) {
        if (++digits >= 16) this.exact = true
        continue
      }
      if (digits > 0 && (byte === 0x65 || byte === 0x45)) this.exact = true
      digits = 0
      if (byte === quote) at = endOfString(bytes, at) - 1
      else if (byte === colon) this.members++
      else if (byte === comma) this.values++
      else if (isOpening(byte)) {
        this.values++
        this.depth = Math.max(this.depth, ++open)
      } else if (isClosing(byte)) {
        open--
        if (isOpening(bytes[at - 1])) this.values--
      }
    }
    ;[this.#at, this.#open, this.#digits] = [at, open, digits]
  }
}

/** What `parseExactSteps` returns, at once. */
export const parseExact = (text: string): unknown => atOnce(parseExactSteps(text))

/** What `jsonErrorSteps` returns, at once. */
export const jsonError = (bytes: Buffer): string | undefined => atOnce(jsonErrorSteps(bytes))

/** Decodes JSON and keeps 64-bit integers: those beyond 2^53 become `bigint` (rules.md 1.32). Throws `SyntaxError`. */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  const value: unknown = JSON.parse(text)
  return survey(bytes).exact ? parseExact(text) : value
}

/**
 * `{ ...a, ...b }` for objects on the path of each request. V8 adds the members of a second spread one by one in its
 * runtime, about a microsecond each; `Object.assign` does not, but sets the prototype for a member `__proto__`.
 */
export const merged = <A extends object, B extends object>(a: A, b: B): Omit<A, keyof B> & B =>
  Object.hasOwn(a, '__proto__') || Object.hasOwn(b, '__proto__') ? { ...a, ...b } : Object.assign({}, a, b)

/** Whether the value contains a bigint, which is rare. */
function hasBigint(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint'
  if (Array.isArray(value)) return value.some(hasBigint)
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    if (typeof member !== 'string' && hasBigint(member)) return true
  }
  return false
}

/**
 * The value as it would be decoded after it is encoded with sorted keys at each level. Parts that are canonical already
 * are not copied.
 */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(canonical)
    return items.every((item, i) => Object.is(item, value[i])) ? value : items
  }
  if (typeof value === 'number') return canonicalNumber(value)
  return isMembers(value) ? canonicalMembers(value) : value
}

/** JSON has no -0, and large integers are bigints. */
const canonicalNumber = (value: number): unknown =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? parseExact(String(value)) : value + 0

function canonicalMembers(object: Record<string, unknown>): Record<string, unknown> {
  let isSorted = true
  let previous = ''
  let changed: Map<string, unknown> | undefined
  for (const key in object) {
    if (key < previous) isSorted = false
    previous = key
    const member = object[key]
    const next = typeof member === 'string' ? member : canonical(member)
    if (!Object.is(next, member) || next === undefined) changed = (changed ?? new Map()).set(key, next)
  }
  if (isSorted && changed === undefined) return object
  const keys = isSorted ? Object.keys(object) : Object.keys(object).sort()
  const members = keys.map((key): [string, unknown] => [key, changed?.get(key) ?? object[key]])
  return Object.fromEntries(members.filter(([, member]) => member !== undefined))
}

/** Like `JSON.stringify`, with bigints as integers. */
function write(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (!isMembers(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${write(member)}`).join(',')}}`
}

/** JSON with the keys in their order. With bigints, which are written as integers, it is always one line. */
export const formatJson = (value: unknown, indent = 0): string =>
  hasBigint(value) ? write(value) : JSON.stringify(value, undefined, indent)

/** JSON on one line with sorted keys at each level: equal objects have equal texts (rules.md 1.31). */
export function canonicalJson(value: unknown): string {
  return formatJson(canonical(value))
}

/** Characters of the findings in one response. */
const mostText = 2 ** 20

/**
 * The findings about a request body that fit into one response, and at least one: a small body may have thousands of
 * problems, each with a path as long as the body.
 */
export class Findings<T> {
  readonly all: T[] = []
  #room = mostText

  static of<T>(items: Iterable<T>, textOf: (item: T) => string): readonly T[] {
    const findings = new Findings<T>()
    for (const item of items) {
      if (findings.isFull) break
      findings.add(item, textOf(item).length)
    }
    return findings.all
  }

  /** No further finding is kept. */
  get isFull(): boolean {
    return this.#room <= 0
  }

  /** `length`: characters of the finding in the response. */
  add(item: T, length: number): void {
    if (this.isFull) return
    this.#room -= length
    this.all.push(item)
  }
}

/** Work in steps, which has a result. After a promise, which never rejects, the next step follows when it resolves. */
export type Steps<T = void> = Generator<void | Promise<void>, T>

/** The result of work in steps, without turns in between: none of them is a promise. */
export function atOnce<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Values of one step: they take less than a millisecond. */
const valuesOfStep = 256

/** Counts the values of work in steps, at any depth. */
export class Work {
  #left = valuesOfStep

  /** To be called for each value: whether a step ends with it. */
  isStepDone(): boolean {
    if (--this.#left > 0) return false
    this.#left = valuesOfStep
    return true
  }
}

/** Items that are sorted at once: that takes less than a millisecond. */
const sortedAtOnce = 256

type Compare<T> = (a: T, b: T) => number

/** The order of texts by their UTF-16 units, as `Array.sort` has it. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The items in order, in steps. Stable. */
export function* sortedSteps<T>(items: readonly T[], compare: Compare<T>): Generator<void, readonly T[]> {
  if (items.length <= sortedAtOnce) return items.toSorted(compare)
  const middle = items.length >>> 1
  const first = yield* sortedSteps(items.slice(0, middle), compare)
  yield
  const second = yield* sortedSteps(items.slice(middle), compare)
  yield
  return yield* mergedSteps(first, second, compare)
}

function* mergedSteps<T>(
  a: readonly T[],
  b: readonly T[],
  compare: Compare<T>,
): Generator<void, readonly T[]> {
  const merged: T[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    const [first, second] = [a[i] as T, b[j] as T]
    if (compare(first, second) <= 0) i = merged.push(first) - j
    else j = merged.push(second) - i
    if (merged.length % sortedAtOnce === 0) yield
  }
  return merged.concat(a.slice(i), b.slice(j))
}
