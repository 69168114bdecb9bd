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
import { goQuoted } from '../json/gotext.ts'
import { maxDepth } from '../json/json.ts'

/** A decoded YAML document. */
export interface YamlDocument {
  readonly value: unknown
  /** `line 3: key "x" already set in map` for each repeated key (rules.md 2.51); the last value wins. */
  readonly duplicates: readonly string[]
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

/**
 * Decodes one YAML document as Kubernetes does: YAML 1.1, where `yes` and `on` are booleans; keys are strings; integers
 * beyond 2^53 are `bigint`. Throws `SyntaxError` for invalid YAML, several documents and excessive aliases.
 */
export function parseYaml(text: string): YamlDocument {
  const [document, ...others] = new Composer<ParsedNode>(options).compose(tokens(text))
  if (document === undefined) return { value: null, duplicates: [], lineOf: () => 1 }
  if (others.length > 0) throw new SyntaxError('only one YAML document is accepted')
  const error = document.errors[0]
  if (error !== undefined) throw notYaml(error)
  return {
    value: plain(() => document.toJS({ mapAsMap: true, maxAliasCount: 100 })),
    duplicates: repeatedKeys(document.contents, text),
    lineOf: path => lineOf(text, offsetOf(document, path)),
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
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme)
    if (parser.stack.length > maxDepth) throw notYaml(new Error('exceeded max depth'))
  }
  yield* parser.end()
}

const notYaml = (error: unknown): SyntaxError =>
  new SyntaxError(`error converting YAML to JSON: yaml: ${(error as Error).message.split('\n', 1)[0]}`)

function plain(decode: () => unknown): unknown {
  try {
    return toJson(decode())
  } catch (error) {
    throw notYaml(error)
  }
}

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length

/** The repeated keys of a node, those inside a value before its own. */
function repeatedKeys(node: unknown, text: string): readonly string[] {
  if (isSeq(node)) return node.items.flatMap(item => repeatedKeys(item, text))
  if (!isMap(node)) return []
  const seen = new Set<unknown>()
  return node.items.flatMap(({ key, value }) => {
    const inside = repeatedKeys(value, text)
    if (!isScalar(key)) return inside
    if (!seen.has(key.value)) {
      seen.add(key.value)
      return inside
    }
    const at = isNode(value) ? value.range?.[0] : undefined
    return [...inside, `line ${lineOf(text, at ?? 0)}: key ${goSyntax(key.value)} already set in map`]
  })
}

const goSyntax = (key: unknown): string => (typeof key === 'string' ? goQuoted(key) : String(key))

const isSafe = (value: bigint): boolean => Number.isSafeInteger(Number(value))

function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return isSafe(value) ? Number(value) : value
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error('number is out of range')
  if (Array.isArray(value)) return value.map(toJson)
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, member]) => [keyText(key), toJson(member)]))
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  return value instanceof Set ? [...value].map(toJson) : value
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
  })
