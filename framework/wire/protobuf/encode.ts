import { formatJson } from '../../json/json.ts'
import { envelope, type MessageField, type MessageFields, magic, messageFields, typeMeta } from './fields.ts'
import { lengthDelimited, varint, varintField } from './wire.ts'

type Members = Readonly<Record<string, unknown>>

/** The type in an envelope. */
export interface EnvelopeType {
  readonly apiVersion: string
  readonly kind: string
}

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null
const membersOf = (value: unknown): Members => (isMembers(value) ? value : {})

/** A message in its envelope: `runtime.Unknown` (rules.md 11.1). */
export const enveloped = (type: EnvelopeType, raw: Buffer): Buffer =>
  Buffer.concat([magic, encodeMessage(envelope, { type, raw, contentEncoding: '', contentType: '' })])

/**
 * Encodes JSON as a message, with the same bytes as the generated code of Go: fields in the order of their numbers,
 * sorted map keys, and zero values of fields that are not pointers (rules.md 11.6, 11.7).
 */
export function encodeMessage(fields: MessageFields, value: Members): Buffer {
  const parts: Buffer[] = []
  for (const [number, field] of fields) addField(parts, number, field, value)
  return Buffer.concat(parts)
}

function addField(parts: Buffer[], number: number, field: MessageField, value: Members): void {
  const { name, type, shape, mark } = field
  if (mark === '^') {
    parts.push(encodeOne(number, type, value))
    return
  }
  const member = value[name]
  if (shape === 'list') {
    for (const item of (member ?? []) as readonly unknown[]) parts.push(encodeOne(number, type, item))
  } else if (shape === 'map') {
    const entries = Object.entries(membersOf(member)).sort(([one], [other]) => (one < other ? -1 : 1))
    for (const [key, item] of entries)
      parts.push(
        lengthDelimited(number, Buffer.concat([encodeOne(1, 'text', key), encodeOne(2, type, item)])),
      )
  } else if (isWritten(field, member)) parts.push(encodeOne(number, type, member))
}

/** Absent pointers and bytes are omitted; other absent fields are written as zero. */
const isWritten = ({ type, mark }: MessageField, member: unknown): boolean =>
  (member !== undefined && member !== null) || (mark !== '*' && type !== 'bytes')

type Encode = (number: number, value: unknown) => Buffer

const text = (number: number, value: unknown): Buffer =>
  lengthDelimited(number, Buffer.from(typeof value === 'string' ? value : ''))

/** Types with their own encoding, by name. */
const special: Readonly<Record<string, Encode>> = {
  text,
  bytes: (number, value) => lengthDelimited(number, Buffer.from(String(value), 'base64')),
  raw: (number, value) => lengthDelimited(number, value as Buffer),
  int: (number, value) => varintField(number, BigInt(Math.trunc(Number(value ?? 0)))),
  bool: (number, value) => varintField(number, value === true ? 1n : 0n),
  double: (number, value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(Number(value))
    return Buffer.concat([varint(BigInt((number << 3) | 1)), bytes])
  },
  Time: (number, value) => lengthDelimited(number, encodeTime(value)),
  MicroTime: (number, value) => lengthDelimited(number, encodeTime(value)),
  Json: (number, value) => lengthDelimited(number, lengthDelimited(1, Buffer.from(formatJson(value)))),
  Quantity: (number, value) => lengthDelimited(number, text(1, value)),
  TextList: (number, value) =>
    lengthDelimited(number, Buffer.concat((value as readonly unknown[]).map(item => text(1, item)))),
  TypeMeta: (number, value) => lengthDelimited(number, encodeMessage(typeMeta, membersOf(value))),
  SchemaOrArray: (number, value) =>
    encodeOne(number, 'SchemaItems', Array.isArray(value) ? { schemas: value } : { schema: value }),
  SchemaOrBool: (number, value) =>
    encodeOne(
      number,
      'SchemaAllowed',
      typeof value === 'boolean' ? { allows: value } : { allows: true, schema: value },
    ),
}

function encodeOne(number: number, type: string, value: unknown): Buffer {
  const write = special[type]
  if (write !== undefined) return write(number, value)
  return lengthDelimited(number, encodeMessage(messageFields(type) ?? new Map(), membersOf(value)))
}

/** Seconds and nanoseconds; nothing for the zero time. */
function encodeTime(value: unknown): Buffer {
  if (typeof value !== 'string') return Buffer.alloc(0)
  const seconds = Math.floor(Date.parse(value) / 1000)
  const fraction = /\.(\d+)/.exec(value)?.[1] ?? ''
  const nanos = Number(fraction.slice(0, 9).padEnd(9, '0'))
  return Buffer.concat([varintField(1, BigInt(seconds)), varintField(2, BigInt(nanos))])
}
