import { jsonError, parseExact } from '../json/exactjson.ts'
import { Findings } from '../json/findings.ts'
import { goQuoted } from '../json/gotext.ts'
import { maxDepth, survey } from '../json/json.ts'
import { unsupportedMediaType } from '../meta/errors.ts'
import type { VerbRequest } from '../request/response.ts'
import { parseProtobuf } from './protobuf/parse.ts'
import { parseYaml } from './yaml.ts'

/** A body as JSON values, and its repeated keys in the words of rules 2.47 and 2.51 of chapter 40, each told once. */
export interface ParsedBody {
  readonly value: unknown
  readonly duplicates: readonly string[]
}

/** As many problems as Go's reader keeps. */
const maxProblems = 100

/**
 * Reads JSON, YAML or protobuf with limited depth, without losing integers or repeated keys. Throws `SyntaxError`.
 * One pass over the bytes decides whether the fast reader is exact enough, and it almost always is.
 */
export function parseBody(bytes: Buffer, format: BodyFormat): ParsedBody {
  if (format === 'yaml') return fromYaml(bytes)
  if (format === 'protobuf') return fromProtobuf(bytes)
  const { members, depth, exact } = survey(bytes)
  if (depth > maxDepth) throw new SyntaxError('exceeded max depth')
  const text = bytes.toString('utf8')
  const value = jsonOf(text, bytes)
  if (!exact && countMembers(value) === members) return { value, duplicates: [] }
  return readSlowly(text)
}

function jsonOf(text: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SyntaxError(jsonError(bytes) ?? String(error))
  }
}

/** Each once, and as many as Go's reader keeps. */
class Problems {
  readonly #found = new Findings<string>()
  readonly #told = new Set<string>()

  get all(): readonly string[] {
    return this.#found.all
  }

  add(what: string, path: string): void {
    if (this.#found.isFull || this.all.length === maxProblems) return
    const text = `${what} ${goQuoted(path)}`
    if (!this.#told.has(text)) this.#found.add(text, text.length)
    this.#told.add(text)
  }
}

function readSlowly(text: string): ParsedBody {
  const problems = new Problems()
  const value = parseExact(text, (path, isRepeated) => {
    if (isRepeated) problems.add('duplicate field', path)
    return true
  })
  return { value, duplicates: problems.all }
}

/** Characters of all paths together that are looked up: beyond that the order is lost, not the time. */
const mostPaths = 2 ** 26

/**
 * What is wrong with a JSON text, in its order, for a reader of a type: it skips what the type does not have and what is in
 * that. `unknown` are the paths of members that the type does not have.
 */
export function typedProblems(text: string, unknown: ReadonlySet<string>): readonly string[] {
  const problems = new Problems()
  let left = mostPaths
  parseExact(text, (path, isRepeated) => {
    left -= path.length
    if (left < 0) return false
    const isUnknown = unknown.has(path)
    if (isUnknown) problems.add('unknown field', path)
    else if (isRepeated) problems.add('duplicate field', path)
    return !isUnknown
  })
  for (const path of unknown) problems.add('unknown field', path)
  return problems.all
}

/** All lines are one problem for who is strict; warnings are told line by line. */
const yamlErrors = 'yaml: unmarshal errors:\n  '

function fromYaml(bytes: Buffer): ParsedBody {
  const { value, duplicates } = parseYaml(bytes.toString('utf8'))
  return { value, duplicates: duplicates.length === 0 ? [] : [yamlErrors + duplicates.join('\n  ')] }
}

/** A problem as warnings tell of it. */
export const linesOf = (problem: string): readonly string[] =>
  problem.startsWith(yamlErrors) ? problem.slice(yamlErrors.length).split('\n  ') : [problem]

function fromProtobuf(bytes: Buffer): ParsedBody {
  const value = parseProtobuf(bytes)
  if (isTooDeep(value)) throw new SyntaxError('exceeded max depth')
  return { value, duplicates: [] }
}

/** How many object members a value has, at all levels. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const children = Object.values(value)
  const own = Array.isArray(value) ? 0 : children.length
  return children.reduce((count: number, child) => count + countMembers(child), own)
}

/** Whether a value nests deeper than a body may. */
export const isTooDeep = (value: unknown, left = maxDepth): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (left === 0 || Object.values(value).some(child => isTooDeep(child, left - 1)))

/** The beginning of a body as error messages show it (rules.md 2.38). */
export function preview(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>'
  const head = bytes.subarray(0, 30)
  const more = bytes.length > 30 ? ' ...' : ''
  return `${bytes[0] === 0x7b ? head.toString('utf8') : head.toString('hex')}${more}`
}

/** No request body may be longer, in bytes (rules.md 1.35). */
export const bodyLimit = 3 * 1024 * 1024

/** How a body may be written. */
export type BodyFormat = 'json' | 'yaml' | 'protobuf'

const formats: Readonly<Record<string, BodyFormat>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
}

/** The media type of a body without its parameters, in lower case; '' when the request does not say. */
export const bodyType = ({ headers }: Pick<VerbRequest, 'headers'>): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/**
 * How a body is written; nothing said means JSON. Throws 415 (rules.md 1.33), also for protobuf where it is not
 * known: for custom resources.
 */
export function bodyFormat(request: Pick<VerbRequest, 'headers'>, custom = false): BodyFormat {
  const type = bodyType(request)
  const format = type === '' ? 'json' : Object.hasOwn(formats, type) ? formats[type] : undefined
  if (format !== undefined && !(custom && format === 'protobuf')) return format
  throw unsupportedMediaType(Object.keys(formats))
}

export const applyType = 'application/apply-patch+yaml'
