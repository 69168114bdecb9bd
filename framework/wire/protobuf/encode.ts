import { formatJson } from '../../json/json.ts'
import { envelope, type MessageField, type MessageFields, magic, messageFields, typeMeta } from './fields.ts'
import { MessageWriter } from './writer.ts'

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
  const to = new MessageWriter()
  writeMessage(to, fields, value)
  return to.end()
}

/** What `encodeMessage` returns, in steps that write some kilobytes each. */
export function* encodingSteps(fields: MessageFields, value: Members): Generator<void, Buffer> {
  const to = new MessageWriter()
  yield* messageSteps(to, fields, value)
  return to.end()
}

function* messageSteps(to: MessageWriter, fields: MessageFields, value: Members): Generator<void> {
  for (const [number, field] of [...fields].reverse()) {
    const member = value[field.name]
    if (field.shape === 'list') yield* listSteps(to, number, field.type, (member ?? []) as readonly unknown[])
    else if (field.shape === 'map') yield* mapSteps(to, number, field.type, membersOf(member))
    else if (field.mark !== '^' && isMembers(member)) yield* valueSteps(to, number, field.type, member)
    else writeField(to, number, field, value)
  }
}

function* listSteps(
  to: MessageWriter,
  number: number,
  type: string,
  items: readonly unknown[],
): Generator<void> {
  for (const item of items.toReversed()) {
    yield* valueSteps(to, number, type, item)
    if (to.isStepDone()) yield
  }
}

function* mapSteps(to: MessageWriter, number: number, type: string, map: Members): Generator<void> {
  for (const key of Object.keys(map).sort().reverse()) {
    const before = to.length
    yield* valueSteps(to, 2, type, map[key])
    writeText(to, 1, key)
    to.delimit(number, before)
    if (to.isStepDone()) yield
  }
}

function* valueSteps(to: MessageWriter, number: number, type: string, value: unknown): Generator<void> {
  const wrapping = wrapped[type]?.(value)
  const fields = special[type] === undefined ? messageFields(wrapping?.type ?? type) : undefined
  if (fields === undefined) {
    writeOne(to, number, type, value)
    return
  }
  const before = to.length
  yield* messageSteps(to, fields, wrapping?.value ?? membersOf(value))
  to.delimit(number, before)
}

function writeMessage(to: MessageWriter, fields: MessageFields, value: Members): void {
  for (const [number, field] of [...fields].reverse()) writeField(to, number, field, value)
}

function writeField(to: MessageWriter, number: number, field: MessageField, value: Members): void {
  const { name, type, shape, mark } = field
  if (mark === '^') {
    writeOne(to, number, type, value)
    return
  }
  const member = value[name]
  if (shape === 'list')
    for (const item of ((member ?? []) as readonly unknown[]).toReversed()) writeOne(to, number, type, item)
  else if (shape === 'map') writeMap(to, number, type, membersOf(member))
  else if (isWritten(field, member)) writeOne(to, number, type, member)
}

function writeMap(to: MessageWriter, number: number, type: string, map: Members): void {
  for (const key of Object.keys(map).sort().reverse())
    to.delimited(number, () => {
      writeOne(to, 2, type, map[key])
      writeText(to, 1, key)
    })
}

/** Absent pointers and bytes are omitted; other absent fields are written as zero. */
const isWritten = ({ type, mark }: MessageField, member: unknown): boolean =>
  (member !== undefined && member !== null) || (mark !== '*' && type !== 'bytes')

type Write = (to: MessageWriter, number: number, value: unknown) => void

function writeText(to: MessageWriter, number: number, value: unknown): void {
  to.delimited(number, () => to.text(typeof value === 'string' ? value : ''))
}

function writeInteger(to: MessageWriter, number: number, value: number): void {
  to.varint(value)
  to.tag(number, 0)
}

/** Seconds and nanoseconds; nothing for the zero time. */
function writeTime(to: MessageWriter, number: number, value: unknown): void {
  to.delimited(number, () => {
    if (typeof value !== 'string') return
    const fraction = /\.(\d+)/.exec(value)?.[1] ?? ''
    writeInteger(to, 2, Number(fraction.slice(0, 9).padEnd(9, '0')))
    writeInteger(to, 1, Math.floor(Date.parse(value) / 1000))
  })
}

/** Types with their own encoding, by name. */
const special: Readonly<Record<string, Write>> = {
  text: writeText,
  bytes: (to, number, value) => to.delimited(number, () => to.bytes(Buffer.from(String(value), 'base64'))),
  raw: (to, number, value) => to.delimited(number, () => to.bytes(value as Buffer)),
  int: (to, number, value) => writeInteger(to, number, Math.trunc(Number(value ?? 0))),
  bool: (to, number, value) => writeInteger(to, number, value === true ? 1 : 0),
  double: (to, number, value) => {
    to.double(Number(value))
    to.tag(number, 1)
  },
  Time: writeTime,
  MicroTime: writeTime,
  Json: (to, number, value) => to.delimited(number, () => writeText(to, 1, formatJson(value))),
  Quantity: (to, number, value) => to.delimited(number, () => writeText(to, 1, value)),
  TextList: (to, number, value) =>
    to.delimited(number, () => {
      for (const item of (value as readonly unknown[]).toReversed()) writeText(to, 1, item)
    }),
  TypeMeta: (to, number, value) => to.delimited(number, () => writeMessage(to, typeMeta, membersOf(value))),
}

/** Types that protobuf writes as another message around the value, by name. */
const wrapped: Readonly<
  Record<string, (value: unknown) => { readonly type: string; readonly value: Members }>
> = {
  SchemaOrArray: value => ({
    type: 'SchemaItems',
    value: Array.isArray(value) ? { schemas: value } : { schema: value },
  }),
  SchemaOrBool: value => ({
    type: 'SchemaAllowed',
    value: typeof value === 'boolean' ? { allows: value } : { allows: true, schema: value },
  }),
}

function writeOne(to: MessageWriter, number: number, type: string, value: unknown): void {
  const write = special[type]
  const wrapping = wrapped[type]?.(value)
  if (write !== undefined) write(to, number, value)
  else if (wrapping !== undefined) writeOne(to, number, wrapping.type, wrapping.value)
  else to.delimited(number, () => writeMessage(to, messageFields(type) ?? new Map(), membersOf(value)))
}
