import { type Awaitable, after, inTurns, Pace } from '../async/awaitable.ts'
import { jsonErrorSteps, mostMembers, parseExactSteps, TooManyMembers } from '../json/exactjson.ts'
import { goQuoted } from '../json/gotext.ts'
import { atOnce, Findings, jsonError, maxDepth, type Survey, survey, surveySteps } from '../json/json.ts'
import { isMembers, keysOf } from '../json/values.ts'
import { tooLarge, unsupportedMediaType } from '../meta/errors.ts'
import type { VerbRequest } from '../request/response.ts'
import { tooManyMembers } from './limits.ts'
import { protobufType } from './protobuf/fields.ts'
import { protobufSteps, TooManyValues } from './protobuf/parse.ts'
import { parseYaml, type YamlContent } from './yaml.ts'

/** A decoded body, and the messages about repeated keys, each once (rules.md 2.47, 2.51). */
export interface ParsedBody {
  readonly value: unknown
  readonly duplicates: readonly string[]
}

/** The maximum number of problems that Go reports. */
const maxProblems = 100

/**
 * Decodes JSON, YAML or protobuf of limited depth; keeps 64-bit integers and finds repeated keys. Throws what
 * `parseAtOnce` throws, and 413 for too many values; a long YAML document is parsed beside the event loop, if the request can, and
 * large JSON and protobuf between the turns of other requests.
 */
export const parseBody = (
  request: Pick<VerbRequest, 'yaml' | 'decoded'>,
  bytes: Buffer,
  format: BodyFormat,
): Awaitable<ParsedBody> =>
  after(parsedBody(request, bytes, format), parsed => {
    request.decoded?.(parsed.value)
    return parsed
  })

function parsedBody(
  { yaml = parseYaml }: Pick<VerbRequest, 'yaml'>,
  bytes: Buffer,
  format: BodyFormat,
): Awaitable<ParsedBody> {
  if (format === 'yaml') return after(yaml(bytes.toString('utf8')), fromYaml)
  if (bytes.length <= large[format]) return parseAtOnce(bytes, format)
  return inTurns(format === 'json' ? fromJson(bytes) : fromProtobuf(bytes), new Pace())
}

/** Bytes that take a few milliseconds. */
const large = { json: 16 * 1024, protobuf: 8 * 1024 }

/** Values of JSON that take a few milliseconds. */
const manyValues = 4096

/** The most values of a JSON body: of 3 MiB, an object of 15 bytes each. */
export const mostValues = 200_000

/** Longer texts take longer for their values, not for their bytes. */
function* fromJson(bytes: Buffer): Generator<void, ParsedBody> {
  const found = yield* surveySteps(bytes)
  checkDepth(found)
  if (found.values <= manyValues) return parseSurveyed(bytes, found)
  if (found.values > mostValues) throw tooLarge(`limit of JSON is ${mostValues} values`)
  return yield* readSlowly(bytes)
}

/**
 * Decodes JSON or protobuf. Throws `SyntaxError`. One pass over the bytes decides whether `JSON.parse` is exact enough,
 * which it nearly always is.
 */
export function parseAtOnce(bytes: Buffer, format: Exclude<BodyFormat, 'yaml'>): ParsedBody {
  if (format === 'protobuf') return atOnce(fromProtobuf(bytes))
  const found = survey(bytes)
  checkDepth(found)
  return parseSurveyed(bytes, found)
}

function checkDepth({ depth }: Survey): void {
  if (depth > maxDepth) throw new SyntaxError('exceeded max depth')
}

function parseSurveyed(bytes: Buffer, { members, exact }: Survey): ParsedBody {
  const text = bytes.toString('utf8')
  const value = jsonOf(text, bytes)
  if (!exact && countMembers(value) === members) return { value, duplicates: [] }
  return atOnce(readSlowly(bytes))
}

function jsonOf(text: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SyntaxError(jsonError(bytes) ?? String(error))
  }
}

/** Unique problems, at most as many as Go reports. */
class Problems {
  readonly #found = new Findings<string>()
  readonly #known = new Set<string>()

  get all(): readonly string[] {
    return this.#found.all
  }

  add(what: string, path: string): void {
    if (this.#found.isFull || this.all.length === maxProblems) return
    const text = `${what} ${goQuoted(path)}`
    if (!this.#known.has(text)) this.#found.add(text, text.length)
    this.#known.add(text)
  }
}

function* readSlowly(bytes: Buffer): Generator<void, ParsedBody> {
  const problems = new Problems()
  const visit = (path: string, isRepeated: boolean): boolean => {
    if (isRepeated) problems.add('duplicate field', path)
    return true
  }
  try {
    const value = yield* parseExactSteps(bytes.toString('utf8'), visit, mostMembers)
    return { value, duplicates: problems.all }
  } catch (error) {
    if (error instanceof TooManyMembers) throw tooManyMembers(error.message)
    if (!(error instanceof SyntaxError)) throw error
    throw new SyntaxError((yield* jsonErrorSteps(bytes)) ?? error.message)
  }
}

/** Maximum total length of the paths that are compared; above it problems lose their order. */
const mostPaths = 2 ** 26

/**
 * The problems of a JSON text in its order, for a typed decoder, in steps: it skips unknown members and the members below them.
 * `unknown` are the paths of unknown members.
 */
export function* typedProblems(
  text: string,
  unknown: ReadonlySet<string>,
): Generator<void, readonly string[]> {
  const problems = new Problems()
  let left = mostPaths
  yield* parseExactSteps(text, (path, isRepeated) => {
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

/** All lines are one problem in strict mode, and one warning each otherwise. */
const yamlErrors = 'yaml: unmarshal errors:\n  '

const fromYaml = ({ value, duplicates }: YamlContent): ParsedBody => ({
  value,
  duplicates: duplicates.length === 0 ? [] : [yamlErrors + duplicates.join('\n  ')],
})

/** The warnings for a problem. */
export const linesOf = (problem: string): readonly string[] =>
  problem.startsWith(yamlErrors) ? problem.slice(yamlErrors.length).split('\n  ') : [problem]

function* fromProtobuf(bytes: Buffer): Generator<void, ParsedBody> {
  const value = yield* limitedProtobuf(bytes)
  yield
  if (isTooDeep(value)) throw new SyntaxError('exceeded max depth')
  return { value, duplicates: [] }
}

function* limitedProtobuf(bytes: Buffer): Generator<void, unknown> {
  try {
    return yield* protobufSteps(bytes, { values: mostValues, members: mostMembers })
  } catch (error) {
    if (error instanceof TooManyMembers) throw tooManyMembers(error.message)
    if (error instanceof TooManyValues) throw tooLarge(`limit of protobuf is ${mostValues} values`)
    throw error
  }
}

/** The number of object members at all levels. Loops: `Object.values` would copy every object. */
function countMembers(value: unknown): number {
  let count = 0
  if (Array.isArray(value))
    for (const item of value) if (typeof item === 'object') count += countMembers(item)
  if (!isMembers(value)) return count
  for (const key in value) {
    count++
    const member = value[key]
    if (typeof member === 'object') count += countMembers(member)
  }
  return count
}

/** Whether a value exceeds the maximum depth. */
export function isTooDeep(value: unknown, left = maxDepth): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (left === 0) return true
  if (Array.isArray(value)) return value.some(item => typeof item === 'object' && isTooDeep(item, left - 1))
  for (const key of keysOf(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[key]
    if (typeof member === 'object' && isTooDeep(member, left - 1)) return true
  }
  return false
}

/** The beginning of a body in error messages (rules.md 2.38). */
export function preview(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>'
  const head = bytes.subarray(0, 30)
  const more = bytes.length > 30 ? ' ...' : ''
  return `${bytes[0] === 0x7b ? head.toString('utf8') : head.toString('hex')}${more}`
}

/** The maximum length of a request body, in bytes (rules.md 1.35). */
export const bodyLimit = 3 * 1024 * 1024

/** The formats of request bodies. */
export type BodyFormat = 'json' | 'yaml' | 'protobuf'

const formats: Readonly<Record<string, BodyFormat>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  [protobufType]: 'protobuf',
}

/** The media type of a body without parameters, in lower case; empty without `Content-Type`. */
export const bodyType = ({ headers }: Pick<VerbRequest, 'headers'>): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/**
 * The format of a body; JSON without `Content-Type`. Throws 415 for other types, and for protobuf of custom resources
 * (rules.md 1.33, 1.38).
 */
export function bodyFormat(request: Pick<VerbRequest, 'headers'>, custom = false): BodyFormat {
  const type = bodyType(request)
  const format = type === '' ? 'json' : Object.hasOwn(formats, type) ? formats[type] : undefined
  if (format !== undefined && !(custom && format === 'protobuf')) return format
  throw unsupportedMediaType(Object.keys(formats))
}

export const applyType = 'application/apply-patch+yaml'
