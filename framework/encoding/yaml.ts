import {
  Composer,
  type CST,
  type Document,
  isNode,
  isScalar,
  Lexer,
  type Pair,
  type ParsedNode,
  Parser,
  stringify,
  visit,
} from 'yaml'
import { maxDepth } from './json.ts'

/** A YAML document as JSON values, and what a strict reader complains about. */
export interface YamlDocument {
  readonly value: unknown
  /** `line 3: key "x" already set in map` (chapter 40, rule 2.51); the last one wins. */
  readonly duplicates: readonly string[]
  /** The line, from 1, of the value at a path, or of what has it where it is missing. */
  lineOf(path: readonly (string | number)[]): number
}

/** Kubernetes leaves dates and base-60 numbers as the strings they are. */
const isKubernetesTag = (tag: unknown): boolean =>
  typeof tag !== 'object' ||
  tag === null ||
  !('tag' in tag) ||
  (tag.tag !== 'tag:yaml.org,2002:timestamp' && !('format' in tag && tag.format === 'TIME'))

const options = {
  version: '1.1',
  uniqueKeys: false,
  intAsBigInt: true,
  merge: true,
  customTags: <T>(tags: T[]): T[] => tags.filter(isKubernetesTag),
} as const

/**
 * Reads one YAML document as Kubernetes does: YAML 1.1, so that `yes` and `on` are booleans; keys are strings; integers
 * beyond 2^53 are `bigint`. Throws `SyntaxError` for what is not YAML, for several documents and for alias bombs.
 */
export function parseYaml(text: string): YamlDocument {
  const [document, ...others] = new Composer<ParsedNode>(options).compose(tokens(text))
  if (document === undefined) return { value: null, duplicates: [], lineOf: () => 1 }
  if (others.length > 0) throw new SyntaxError('only one YAML document is accepted')
  const error = document.errors[0]
  if (error !== undefined) throw notYaml(error)
  const duplicates: string[] = []
  visit(document, { Map: (_, map) => void duplicates.push(...repeatedKeys(map.items, text)) })
  return {
    value: plain(() => document.toJS({ mapAsMap: true, maxAliasCount: 100 })),
    duplicates,
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

/** The parser keeps its own stack; what reads its tokens recurses, so that depth must be limited here. */
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

function repeatedKeys(pairs: readonly Pair[], text: string): string[] {
  const seen = new Set<string>()
  return pairs.flatMap(({ key }) => {
    if (!isScalar(key)) return []
    const name = String(key.value)
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    return [`line ${lineOf(text, key.range?.[0] ?? 0)}: key ${JSON.stringify(name)} already set in map`]
  })
}

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

/** Writes a JSON value as YAML, keys sorted, no anchors. */
export const formatYaml = (value: unknown): string =>
  stringify(value, { version: '1.1', sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false })
