import { parseProtobuf } from '../protobuf/parse.ts'
import { parseExact } from './exactjson.ts'
import { maxDepth, survey } from './json.ts'
import { whyNoJson } from './jsonsyntax.ts'
import type { BodyFormat } from './mediatypes.ts'
import { parseYaml } from './yaml.ts'

/** A body as JSON values, and its repeated keys in the words of rules 2.47 and 2.51 of chapter 40. */
export interface ParsedBody {
  readonly value: unknown
  readonly duplicates: readonly string[]
}

/**
 * Reads JSON, YAML or protobuf with limited depth, without losing integers or repeated keys. Throws `SyntaxError`.
 * One pass over the bytes decides whether the fast reader is exact enough, and it almost always is.
 */
export function parseBody(bytes: Buffer, format: BodyFormat): ParsedBody {
  if (format === 'yaml') return parseYaml(bytes.toString('utf8'))
  if (format === 'protobuf') return fromProtobuf(bytes)
  const { members, depth, exact } = survey(bytes)
  if (depth > maxDepth) throw new SyntaxError('exceeded max depth')
  const text = bytes.toString('utf8')
  const value = jsonOf(text, bytes)
  if (!exact && countMembers(value) === members) return { value, duplicates: [] }
  const slow = parseExact(text)
  return { value: slow.value, duplicates: slow.duplicates.map(path => `duplicate field "${path}"`) }
}

function jsonOf(text: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SyntaxError(whyNoJson(bytes) ?? String(error))
  }
}

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

/** The beginning of a body as error messages show it (chapter 40, rule 2.38). */
export function preview(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>'
  const head = bytes.subarray(0, 30)
  const more = bytes.length > 30 ? ' ...' : ''
  return `${bytes[0] === 0x7b ? head.toString('utf8') : head.toString('hex')}${more}`
}
