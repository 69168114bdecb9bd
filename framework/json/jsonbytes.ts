import { formatJson } from './json.ts'
import { isMembers, keysOf } from './values.ts'

/** Values that are encoded at once: that takes less than a millisecond, unless one of them is a long text. */
const valuesAtOnce = 256
/** Characters of one piece. */
const pieceLength = 64 * 1024

/** The JSON of a value on one line, with the keys in their order, in steps. */
export function* jsonBytes(value: unknown): Generator<void, Buffer> {
  const pieces = new Pieces()
  yield* write(value, pieces)
  return pieces.end()
}

class Pieces {
  readonly #complete: Buffer[] = []
  #text = ''

  add(text: string): void {
    this.#text += text
    if (this.#text.length > pieceLength) this.#complete.push(this.#take())
  }

  end(): Buffer {
    return Buffer.concat([...this.#complete, this.#take()])
  }

  #take(): Buffer {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    return bytes
  }
}

function* write(value: unknown, pieces: Pieces): Generator<void> {
  if (left(value, valuesAtOnce) >= 0) pieces.add(formatJson(value))
  else if (Array.isArray(value)) yield* writeItems(value, pieces)
  else if (isMembers(value)) yield* writeMembers(value, pieces)
}

/** How many values more a value may have, at any depth; negative if it has too many. */
function left(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return most - 1
  let rest = most - 1
  for (const member of membersOf(value)) {
    if (rest < 0) break
    rest = left(member, rest)
  }
  return rest
}

function* membersOf(value: object): Generator<unknown> {
  if (Array.isArray(value)) yield* value
  else for (const key in value) yield (value as Record<string, unknown>)[key]
}

function* writeItems(items: readonly unknown[], pieces: Pieces): Generator<void> {
  let before = '['
  for (const item of items) {
    pieces.add(before)
    yield* write(item, pieces)
    yield
    before = ','
  }
  pieces.add(']')
}

function* writeMembers(object: Record<string, unknown>, pieces: Pieces): Generator<void> {
  let before = '{'
  for (const key of keysOf(object)) {
    if (object[key] === undefined) continue
    pieces.add(`${before}${JSON.stringify(key)}:`)
    yield* write(object[key], pieces)
    yield
    before = ','
  }
  pieces.add(before === '{' ? '{}' : '}')
}
