import { setMember } from '../json/exactjson.ts'
import { canonical, compareTexts, formatJson, sortedSteps, Work } from '../json/json.ts'
import { keepKeys, keysOf } from '../json/values.ts'
import { hasMany } from './encode.ts'

/** What `canonical` returns, in steps. */
export function* canonicalSteps(value: unknown, work = new Work()): Generator<void, unknown> {
  if (!hasMany(value)) return canonical(value)
  yield
  return Array.isArray(value) ? yield* canonicalItems(value, work) : yield* canonicalMembers(value, work)
}

function* canonicalItems(items: readonly unknown[], work: Work): Generator<void, readonly unknown[]> {
  const next: unknown[] = []
  let isChanged = false
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    next.push(typeof item === 'object' ? yield* canonicalSteps(item, work) : canonical(item))
    isChanged ||= !Object.is(next[i], item)
    if (work.isStepDone()) yield
  }
  return isChanged ? next : items
}

function* canonicalMembers(value: unknown, work: Work): Generator<void, unknown> {
  const object = value as Readonly<Record<string, unknown>>
  const keys = keysOf(object)
  yield
  const isSorted = keys.every((key, i) => i === 0 || (keys[i - 1] ?? '') <= key)
  const next: Record<string, unknown> = {}
  const added: string[] = []
  let isChanged = !isSorted
  for (const key of isSorted ? keys : yield* sortedSteps(keys, compareTexts)) {
    if (work.isStepDone()) yield
    const member = object[key]
    const made = typeof member === 'object' ? yield* canonicalSteps(member, work) : canonical(member)
    isChanged ||= !Object.is(made, member) || made === undefined
    if (made === undefined) continue
    setMember(next, key, made)
    added.push(key)
  }
  keepKeys(next, added)
  return isChanged ? next : object
}

/** JSON that is encoded in steps, in pieces of some kilobytes. */
export class JsonPieces {
  readonly #pieces: Buffer[] = []
  readonly #work = new Work()
  #text = ''
  #length = 0

  /** Bytes of the text so far. */
  get length(): number {
    this.#flush()
    return this.#length
  }

  add(text: string): void {
    this.#text += text
    if (this.#text.length > pieceLength) this.#flush()
  }

  /** What `formatJson` returns. */
  *value(value: unknown): Generator<void> {
    if (!hasMany(value)) return this.add(formatJson(value))
    yield
    if (Array.isArray(value)) return yield* this.#items(value)
    this.add('{')
    yield* this.members(value as Readonly<Record<string, unknown>>)
    this.add('}')
  }

  /** An object without its braces. Returns whether it has members. */
  *members(object: Readonly<Record<string, unknown>>): Generator<void, boolean> {
    let before = ''
    for (const key of keysOf(object)) {
      if (this.#work.isStepDone()) yield
      const member = object[key]
      if (member === undefined) continue
      this.add(`${before}${JSON.stringify(key)}:`)
      before = ','
      if (typeof member === 'object' && member !== null) yield* this.value(member)
      else this.add(formatJson(member))
    }
    return before !== ''
  }

  *#items(items: readonly unknown[]): Generator<void> {
    let before = '['
    for (const item of items) {
      if (this.#work.isStepDone()) yield
      this.add(before)
      before = ','
      if (typeof item === 'object' && item !== null) yield* this.value(item)
      else this.add(item === undefined ? 'null' : formatJson(item))
    }
    this.add(']')
  }

  bytes(): Buffer {
    return Buffer.concat(this.pieces())
  }

  pieces(): readonly Buffer[] {
    this.#flush()
    return this.#pieces
  }

  #flush(): void {
    if (this.#text === '') return
    const piece = Buffer.from(this.#text)
    this.#pieces.push(piece)
    this.#length += piece.length
    this.#text = ''
  }
}

/** Characters. */
const pieceLength = 16 * 1024
