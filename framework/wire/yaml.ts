import {
  Composer,
  type CST,
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type ParsedNode,
  Parser,
  stringify,
} from 'yaml'
import { mostMembers } from '../json/exactjson.ts'
import { goQuoted } from '../json/gotext.ts'
import { Findings, maxDepth } from '../json/json.ts'
import { StatusError, tooLarge } from '../meta/errors.ts'
import { tooManyMembers } from './limits.ts'

/** The content of a YAML document. */
export interface YamlContent {
  readonly value: unknown
  /** `line 3: key "x" already set in map` for each repeated key (rules.md 2.51); the last value wins. */
  readonly duplicates: readonly string[]
}

/** A decoded YAML document. */
export interface YamlDocument extends YamlContent {
  /** The line, from 1, of the value at a path, or of the value that lacks it. */
  lineOf(path: readonly (string | number)[]): number
}

/** Kubernetes decodes dates and base-60 numbers as strings. */
const isKubernetesTag = (tag: unknown): boolean =>
  typeof tag !== 'object' ||
  tag === null ||
  !('tag' in tag) ||
  (tag.tag !== 'tag:yaml.org,2002:timestamp' && !('format' in tag && tag.format === 'TIME'))

/** A single `.` is a string in Go: it is a key of managedFields. */
const withoutPoint = <T>(tag: T): T =>
  typeof tag === 'object' && tag !== null && 'test' in tag && tag.test instanceof RegExp && tag.test.test('.')
    ? { ...tag, test: /^[-+]?(?:\d[\d_]*\.[\d_]*|\.\d[\d_]*)$/ }
    : tag

const options = {
  version: '1.1',
  uniqueKeys: false,
  intAsBigInt: true,
  merge: true,
  customTags: <T>(tags: T[]): T[] => tags.filter(isKubernetesTag).map(withoutPoint),
} as const

/** The most tokens of a document, and the most values with those that aliases repeat. */
const most = 300_000

/** JSON is parsed a hundred times as fast. */
const tooMany = (what: 'tokens' | 'values'): StatusError =>
  tooLarge(`limit of YAML is ${most} ${what}, that of JSON is larger`)

/**
 * Decodes one YAML document as Kubernetes does: YAML 1.1, where `yes` and `on` are booleans; keys are strings; integers
 * beyond 2^53 are `bigint`. Throws `SyntaxError` for invalid YAML, several documents and excessive aliases, and 413 for
 * too many tokens or values.
 */
export function parseYaml(text: string): YamlDocument {
  const [document, ...others] = withoutStacks(() => [
    ...new Composer<ParsedNode>(options).compose(tokens(text)),
  ])
  if (document === undefined) return { value: null, duplicates: [], lineOf: () => 1 }
  if (others.length > 0) throw new SyntaxError('only one YAML document is accepted')
  const error = document.errors[0]
  if (error !== undefined) throw notYaml(error)
  return {
    value: plain(() => document.toJS({ mapAsMap: true, maxAliasCount: 100 })),
    duplicates: repeatedKeys(document.contents, text),
    lineOf: path => new Lines(text).at(offsetOf(document, path)),
  }
}

/** Errors made by `work` have no stack, which takes 20 microseconds: the parser makes one for each token that is wrong. */
function withoutStacks<T>(work: () => T): T {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return work()
  } finally {
    Error.stackTraceLimit = limit
  }
}

function offsetOf(document: Document.Parsed, path: readonly (string | number)[]): number {
  for (let length = path.length; length >= 0; length--) {
    const found = document.getIn(path.slice(0, length), true)
    if (isNode(found) && found.range) return found.range[0]
  }
  return 0
}

/** The parser has its own stack, but the reader of its tokens recurses: the depth is limited here. */
function* tokens(text: string): Generator<CST.Token> {
  const parser = new Parser()
  let left = most
  for (const lexeme of new Lexer().lex(text)) {
    if (--left < 0) throw tooMany('tokens')
    yield* parser.next(lexeme)
    if (parser.stack.length > maxDepth) throw notYaml(new Error('exceeded max depth'))
  }
  yield* parser.end()
}

const notYaml = (error: unknown): SyntaxError =>
  new SyntaxError(`error converting YAML to JSON: yaml: ${(error as Error).message.split('\n', 1)[0]}`)

function plain(decode: () => unknown): unknown {
  try {
    return toJson(decode(), { left: most })
  } catch (error) {
    throw error instanceof StatusError ? error : notYaml(error)
  }
}

/** The lines of a text, from 1. */
class Lines {
  readonly #text: string
  #offset = 0
  #line = 1

  constructor(text: string) {
    this.#text = text
  }

  /** The line of an offset, which is fast for increasing offsets. */
  at(offset: number): number {
    if (offset < this.#offset) {
      this.#offset = 0
      this.#line = 1
    }
    for (; this.#offset < offset; this.#offset++) if (this.#text[this.#offset] === '\n') this.#line++
    return this.#line
  }
}

/** The repeated keys of a node, those inside a value before its own. */
function repeatedKeys(node: unknown, text: string): readonly string[] {
  const found = new Findings<{ readonly key: unknown; readonly offset: number }>()
  addRepeated(node, (key, offset) => found.add({ key, offset }, repetition(0, key).length))
  const lines = new Lines(text)
  const inOrder = new Map(
    [...found.all].sort((a, b) => a.offset - b.offset).map(each => [each, lines.at(each.offset)]),
  )
  return found.all.map(each => repetition(inOrder.get(each) ?? 0, each.key))
}

const repetition = (line: number, key: unknown): string =>
  `line ${line}: key ${goSyntax(key)} already set in map`

function addRepeated(node: unknown, add: (key: unknown, offset: number) => void): void {
  if (isSeq(node)) for (const item of node.items) addRepeated(item, add)
  if (!isMap(node)) return
  const seen = new Set<unknown>()
  for (const { key, value } of node.items) {
    addRepeated(value, add)
    if (!isScalar(key)) continue
    if (seen.has(key.value)) add(key.value, isNode(value) ? (value.range?.[0] ?? 0) : 0)
    seen.add(key.value)
  }
}

const goSyntax = (key: unknown): string => (typeof key === 'string' ? goQuoted(key) : String(key))

const isSafe = (value: bigint): boolean => Number.isSafeInteger(Number(value))

/** `budget`: the values that the document may still have. */
function toJson(value: unknown, budget: { left: number }): unknown {
  if (--budget.left < 0) throw tooMany('values')
  const below = (member: unknown): unknown => toJson(member, budget)
  if (typeof value === 'bigint') return isSafe(value) ? Number(value) : value
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error('number is out of range')
  if (Array.isArray(value)) return value.map(below)
  if (value instanceof Map) return membersOf(value, below)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  return value instanceof Set ? [...value].map(below) : value
}

function membersOf(map: ReadonlyMap<unknown, unknown>, below: (member: unknown) => unknown): unknown {
  if (map.size > mostMembers) throw tooManyMembers('')
  return Object.fromEntries([...map].map(([key, member]) => [keyText(key), below(member)]))
}

function keyText(key: unknown): string {
  if (typeof key === 'object' && key !== null) throw new Error('unsupported map key of type object')
  return String(key)
}

/** Encodes a JSON value as YAML with sorted keys and without anchors. */
export const formatYaml = (value: unknown): string =>
  stringify(value, {
    version: '1.1',
    sortMapEntries: true,
    lineWidth: 0,
    aliasDuplicateObjects: false,
    indentSeq: false,
    // Strings that are read as something else are quoted, also `<<`, which this package would write as the key of a merge.
    customTags: tags => tags.filter(tag => typeof tag !== 'object' || tag.tag !== 'tag:yaml.org,2002:merge'),
    compat: 'yaml-1.1',
  })
