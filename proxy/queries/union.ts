import { endOfString } from '../../framework/json/json.ts'
import { endOfValue, memberOf } from '../../framework/json/members.ts'

/** The members whose values are united: lists of discovery, and maps of OpenAPI. In JSON. */
const containers = new Set(
  [...['items', 'groups', 'versions', 'resources'], ...['paths', 'components', 'schemas', 'definitions']].map(
    name => JSON.stringify(name),
  ),
)

/** The members that tell what an element of discovery is about, the most important one first; before them, `metadata.name`. In JSON. */
const names = ['"name"', '"resource"', '"version"']
const nameKey = Buffer.from('"name"')

/** A value of a JSON document without white space, of which only containers are read. */
interface Value {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
  /** Of the document, of a map of OpenAPI, and of an element of discovery: by key, in JSON. */
  readonly members?: ReadonlyMap<string, Value>
  /** Of a list of discovery. */
  readonly elements?: readonly Value[]
}

const [openingBrace, closingBrace, openingBracket, closingBracket, comma] = [0x7b, 0x7d, 0x5b, 0x5d, 0x2c]
const none = Buffer.alloc(0)

/** Pieces of a document. An empty one is a place where other requests can have a turn. */
export type Pieces<T = void> = Generator<Buffer, T>

/** Reads the value of a container, in steps. */
export function* readValue(bytes: Buffer, from: number): Pieces<Value> {
  if (bytes[from] === openingBrace) return yield* readMembers(bytes, from)
  if (bytes[from] === openingBracket) return yield* readElements(bytes, from)
  return plain(bytes, from)
}

const plain = (bytes: Buffer, from: number): Value => ({ bytes, from, to: endOfValue(bytes, from) })

function* readMembers(bytes: Buffer, from: number): Pieces<Value> {
  const members = new Map<string, Value>()
  let at = from + 1
  while (at < bytes.length && bytes[at] !== closingBrace) {
    const end = endOfString(bytes, at)
    const key = bytes.toString('utf8', at, end)
    const value = containers.has(key) ? yield* readValue(bytes, end + 1) : plain(bytes, end + 1)
    members.set(key, value)
    yield none
    at = value.to
    if (bytes[at] !== comma) break
    at++
  }
  return { bytes, from, to: at + 1, members }
}

function* readElements(bytes: Buffer, from: number): Pieces<Value> {
  const elements: Value[] = []
  let at = from + 1
  while (at < bytes.length && bytes[at] !== closingBracket) {
    const value = bytes[at] === openingBrace ? yield* readMembers(bytes, at) : plain(bytes, at)
    elements.push(value)
    yield none
    at = value.to
    if (bytes[at] !== comma) break
    at++
  }
  return { bytes, from, to: at + 1, elements }
}

const bytesOf = ({ bytes, from, to }: Value): Buffer => bytes.subarray(from, to)

/** The values as one: the first one, with the members and elements that only others have. */
export function* united(values: readonly Value[]): Pieces {
  const [first, ...others] = values
  if (first === undefined) return
  if (others.length === 0) yield bytesOf(first)
  else if (first.members !== undefined) yield* unitedMembers(values)
  else if (first.elements !== undefined) yield* unitedElements(values)
  else yield bytesOf(first)
}

function* unitedMembers(values: readonly Value[]): Pieces {
  const all = new Map<string, Value[]>()
  for (const { members = [] } of values) {
    for (const [key, value] of members) push(all, key, value)
    yield none
  }
  let before = '{'
  for (const [key, found] of all) {
    yield Buffer.from(`${before}${key}:`)
    yield* united(containers.has(key) ? found : found.slice(0, 1))
    before = ','
  }
  yield Buffer.from(before === '{' ? '{}' : '}')
}

function* unitedElements(values: readonly Value[]): Pieces {
  const all = new Map<string, Value[]>()
  for (const { elements = [] } of values)
    for (const element of elements) {
      push(all, idOf(element), element)
      yield none
    }
  let before = '['
  for (const found of all.values()) {
    yield Buffer.from(before)
    yield* united(found)
    before = ','
  }
  yield Buffer.from(before === '[' ? '[]' : ']')
}

function push(all: Map<string, Value[]>, key: string, value: Value): void {
  const known = all.get(key)
  if (known === undefined) all.set(key, [value])
  else known.push(value)
}

/** What an element of discovery is about, in JSON. */
function idOf(element: Value): string {
  const { bytes, members } = element
  const metadata = members?.get('"metadata"')
  const named = metadata && memberOf(bytes, metadata.from, nameKey)
  if (named !== undefined) return bytes.toString('utf8', named.value, named.to)
  const id = names.map(name => members?.get(name)).find(value => value !== undefined)
  return bytesOf(id ?? element).toString()
}
