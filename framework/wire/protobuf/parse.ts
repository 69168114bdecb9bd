import { maxDepth } from '../../json/json.ts'
import {
  envelope,
  kindFields,
  type MessageField,
  type MessageFields,
  magic,
  messageFields,
  typeMeta,
} from './fields.ts'
import { type WireField, wireFields } from './wire.ts'

/**
 * Decodes a protobuf object into the JSON value that the same client would send. Throws `SyntaxError` for bytes that
 * are not Kubernetes protobuf and for unknown kinds (rules.md 11.10).
 */
export function parseProtobuf(bytes: Buffer): unknown {
  if (!bytes.subarray(0, magic.length).equals(magic))
    throw new SyntaxError(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    )
  const unknown = decodeMessage(envelope, bytes.subarray(magic.length), 0)
  const { apiVersion = '', kind = '' } = unknown.type as { apiVersion?: string; kind?: string }
  const raw = (unknown.raw ?? Buffer.alloc(0)) as Buffer
  const fields = kindFields(apiVersion.split('/')[0] ?? '', kind)
  if (fields === undefined) throw new SyntaxError(`no kind ${JSON.stringify(kind)} is known in protobuf`)
  return { apiVersion, kind, ...decodeMessage(fields, raw, 0) }
}

type Value = Record<string, unknown>

function decodeMessage(fields: MessageFields, bytes: Buffer, depth: number): Value {
  if (depth > maxDepth) throw new SyntaxError('exceeded max depth')
  const members = new Map<string, unknown>()
  for (const { name, mark } of fields.values()) if (mark === '!') members.set(name, false)
  for (const wire of wireFields(bytes)) {
    const field = fields.get(wire.number)
    if (field !== undefined) addField(members, field, wire, depth)
  }
  return Object.fromEntries(
    [...members].map(([name, value]) => [name, value instanceof Map ? Object.fromEntries(value) : value]),
  )
}

function addField(
  members: Map<string, unknown>,
  field: MessageField,
  { value }: WireField,
  depth: number,
): void {
  const { name, type, shape, mark } = field
  if (shape === 'map') {
    const [key, member] = mapEntry(type, bytesOf(value), depth)
    collected(members, name, () => new Map<string, unknown>()).set(key, member)
    return
  }
  const decoded = decodeValue(type, value, depth)
  if (mark === '^') for (const [key, member] of Object.entries(decoded as Value)) members.set(key, member)
  else if (shape === 'list') collected(members, name, (): unknown[] => []).push(decoded)
  else if (mark !== '' || !isZero(decoded)) members.set(name, decoded)
}

/** The values of a repeated field so far. */
function collected<T>(members: Map<string, unknown>, name: string, make: () => T): T {
  const before = members.get(name) as T | undefined
  if (before !== undefined) return before
  const made = make()
  members.set(name, made)
  return made
}

const isZero = (value: unknown): boolean =>
  value === '' ||
  value === 0 ||
  value === false ||
  value === null ||
  (typeof value === 'object' && !Buffer.isBuffer(value) && Object.keys(value).length === 0)

function mapEntry(type: string, entry: Buffer, depth: number): [key: string, value: unknown] {
  const value = first(entry, 2) ?? Buffer.alloc(0)
  return [first(entry, 1)?.toString('utf8') ?? '', decodeValue(type, value, depth)]
}

function bytesOf(value: WireField['value']): Buffer {
  if (typeof value === 'bigint') throw new SyntaxError('proto: wrong wireType')
  return value
}

function doubleOf(bytes: Buffer): number {
  if (bytes.length !== 8) throw new SyntaxError('proto: wrong wireType')
  return bytes.readDoubleLE(0)
}

function integerOf(value: WireField['value']): number {
  if (typeof value !== 'bigint') throw new SyntaxError('proto: wrong wireType')
  return Number(BigInt.asIntN(64, value))
}

/** Types with their own encoding, by name. */
const special: Readonly<Record<string, (value: WireField['value'], depth: number) => unknown>> = {
  text: value => bytesOf(value).toString('utf8'),
  bytes: value => bytesOf(value).toString('base64'),
  raw: bytesOf,
  int: integerOf,
  bool: value => integerOf(value) !== 0,
  double: value => doubleOf(bytesOf(value)),
  Time: value => timeOf(bytesOf(value), false),
  MicroTime: value => timeOf(bytesOf(value), true),
  Json: value => JSON.parse(first(bytesOf(value), 1)?.toString('utf8') ?? 'null'),
  Quantity: value => first(bytesOf(value), 1)?.toString('utf8') ?? '0',
  TextList: value => all(bytesOf(value), 1).map(text => text.toString('utf8')),
  TypeMeta: (value, depth) => decodeMessage(typeMeta, bytesOf(value), depth),
  SchemaOrArray: (value, depth) => {
    const { schema, schemas } = decodeValue('SchemaItems', value, depth) as Value
    return schema ?? schemas ?? {}
  },
  SchemaOrBool: (value, depth) => {
    const { schema, allows } = decodeValue('SchemaAllowed', value, depth) as Value
    return schema ?? allows
  },
}

function decodeValue(type: string, value: WireField['value'], depth: number): unknown {
  const read = special[type]
  if (read !== undefined) return read(value, depth)
  return decodeMessage(messageFields(type) ?? new Map(), bytesOf(value), depth + 1)
}

const all = (message: Buffer, number: number): readonly Buffer[] =>
  [...wireFields(message)].filter(field => field.number === number).map(field => bytesOf(field.value))

const first = (message: Buffer, number: number): Buffer | undefined => all(message, number)[0]

/** RFC 3339 in UTC; null for the zero time, which is an empty message. */
function timeOf(message: Buffer, micro: boolean): string | null {
  let [seconds, nanos] = [0, 0]
  for (const { number, value } of wireFields(message)) {
    if (number === 1) seconds = integerOf(value)
    if (number === 2) nanos = integerOf(value)
  }
  if (seconds === 0 && nanos === 0) return null
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) throw new SyntaxError('proto: time out of range')
  const fraction = micro ? `.${String(Math.trunc(nanos / 1000)).padStart(6, '0')}` : ''
  return date.toISOString().replace(/\.\d+Z$/, `${fraction}Z`)
}
