import { setMember } from './exactjson.ts'
import { isClosing, isOpening, maxDepth, parseJson } from './json.ts'
import { keepKeys } from './values.ts'

export interface StepLimits {
  /** Characters that are decoded at once. Default 8 KiB, which take less than a millisecond. */
  readonly atOnce?: number
  /** The most members of an object that is longer than `atOnce`: their table grows in one step. Default 100,000. */
  readonly members?: number
  /** The most characters between the quotes of a text, which is decoded at once. Default 5 MiB, more than a body has in base64. */
  readonly textLength?: number
  /** The most values at all levels, which take about 60 bytes each. Default 300,000. */
  readonly values?: number
}

const defaultLimits: Required<StepLimits> = {
  atOnce: 8 * 1024,
  members: 100_000,
  textLength: 5 * 1024 * 1024,
  values: 300_000,
}

interface Reader {
  readonly text: string
  /** The index behind each list and object that is longer than `most`, by the index of its start. */
  readonly ends: ReadonlyMap<number, number>
  readonly most: number
  readonly members: number
}

/**
 * The value of `parseJson`, in steps. Throws `SyntaxError`, also for nesting deeper than `maxDepth`, too many values or
 * members, and too long texts.
 */
export function* parseJsonSteps(text: string, limits: StepLimits = {}): Generator<void, unknown> {
  const { atOnce: most, members, ...others } = { ...defaultLimits, ...limits }
  const ends = yield* longContainers(text, { most, ...others })
  const start = behindSpace(text, 0)
  const end = ends.get(start)
  if (end === undefined) return parseJson(Buffer.from(text))
  if (behindSpace(text, end) < text.length) throw invalid()
  return yield* readContainer({ text, ends, most, members }, start, end)
}

const invalid = (): SyntaxError => new SyntaxError('the text is no JSON')

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

function behindSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

function behindString(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) break
    if (code === backslash) at++
  }
  return at + 1
}

function behindShortString(text: string, start: number, textLength: number): number {
  const behind = behindString(text, start)
  if (behind - start > textLength + 2) throw new SyntaxError('too long text')
  return behind
}

interface Found {
  /** Shorter lists and objects are not kept. */
  readonly most: number
  readonly values: number
}

/** Finds the ends of lists and objects, and counts values. */
class Ends {
  readonly long = new Map<number, number>()
  readonly #open: number[] = []
  readonly #most: number
  #left: number

  constructor({ most, values }: Found) {
    this.#most = most
    this.#left = values
  }

  get isComplete(): boolean {
    return this.#open.length === 0
  }

  take(code: number, at: number): void {
    if (isOpening(code)) this.#open.push(at)
    else if (isClosing(code)) this.#close(at + 1)
    else if (code !== comma) return
    // A value is behind a comma, or the first of a list or object.
    if (!isClosing(code) && --this.#left < 0) throw new SyntaxError('too many values')
    if (this.#open.length > maxDepth) throw new SyntaxError('exceeded max depth')
  }

  #close(end: number): void {
    const start = this.#open.pop()
    if (start === undefined) throw invalid()
    if (end - start > this.#most) this.long.set(start, end)
  }
}

function* longContainers(
  text: string,
  { textLength, ...sought }: Found & Pick<Required<StepLimits>, 'textLength'>,
): Generator<void, ReadonlyMap<number, number>> {
  const ends = new Ends(sought)
  const { most } = sought
  let pause = most
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = behindShortString(text, at, textLength) - 1
    else ends.take(code, at)
    if (at < pause) continue
    pause = at + most
    yield
  }
  if (!ends.isComplete) throw invalid()
  return ends.long
}

type Members = Record<string, unknown>

/** A long list or object that is being read. */
interface Content {
  readonly isList: boolean
  readonly value: unknown[] | Members
  /** How many more members it may have. */
  left: number
  /** Of its members, in their order. */
  readonly keys: string[]
  /** Where the first element that was not read begins, and where the last one does. */
  from: number
  element: number
}

function* readContainer(reader: Reader, start: number, end: number): Generator<void, unknown> {
  const { text, members } = reader
  const isList = text[start] === '['
  if (text[end - 1] !== (isList ? ']' : '}')) throw invalid()
  const value = isList ? [] : {}
  const content: Content = { isList, value, left: members, keys: [], from: start + 1, element: start + 1 }
  yield* readElements(reader, content, end - 1)
  const isEmpty = content.from === start + 1 && behindSpace(text, content.from) === end - 1
  if (content.from < end && !isEmpty) addParts(content, text.slice(content.from, end - 1))
  keepKeys(content.value, content.keys)
  return content.value
}

function* readElements(reader: Reader, content: Content, end: number): Generator<void> {
  const { text, ends, most } = reader
  let depth = 0
  for (let at = content.from; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = behindString(text, at) - 1
    else if (isClosing(code)) depth--
    else if (isOpening(code)) {
      const behind = depth === 0 ? ends.get(at) : undefined
      if (behind === undefined) depth++
      else at = (yield* readLong(reader, content, { start: at, behind, end })) - 1
    } else if (code === comma && depth === 0) {
      content.element = at + 1
      if (at - content.from < most) continue
      addBefore(content, text)
      yield
    }
  }
}

/** Reads an element with a long value. Returns the index of the next element, or that behind the container. */
function* readLong(
  reader: Reader,
  content: Content,
  { start, behind, end }: { readonly start: number; readonly behind: number; readonly end: number },
): Generator<void, number> {
  const { text } = reader
  if (content.element > content.from) addBefore(content, text)
  const value = yield* readContainer(reader, start, behind)
  addLong(content, text.slice(content.element, start), value)
  const at = behindSpace(text, behind)
  if (at < end && text.charCodeAt(at) !== comma) throw invalid()
  content.from = at + 1
  content.element = at + 1
  return at + 1
}

/** Adds the elements before the last comma. */
function addBefore(content: Content, text: string): void {
  addParts(content, text.slice(content.from, content.element - 1))
  content.from = content.element
}

/** Adds one or several elements, which commas separate. */
function addParts(content: Content, text: string): void {
  const { isList, value } = content
  const part = parseJson(Buffer.from(isList ? `[${text}]` : `{${text}}`)) as unknown[] | Members
  const keys = Object.keys(part)
  if (keys.length === 0) throw invalid()
  if (Array.isArray(part)) for (const item of part) (value as unknown[]).push(item)
  else for (const key of keys) addMember(content, key, part[key])
}

/** `before`: the text before the value, which has the key of a member. */
function addLong(content: Content, before: string, long: unknown): void {
  const { isList, value } = content
  if (isList) {
    if (behindSpace(before, 0) < before.length) throw invalid()
    ;(value as unknown[]).push(long)
    return
  }
  const [key, ...others] = Object.keys(parseJson(Buffer.from(`{${before}[]}`)) as object)
  if (key === undefined || others.length > 0) throw invalid()
  addMember(content, key, long)
}

function addMember(content: Content, key: string, value: unknown): void {
  if (--content.left < 0) throw new SyntaxError('too many members')
  if (!Object.hasOwn(content.value, key)) content.keys.push(key)
  setMember(content.value as Members, key, value)
}
