import { TooManyMembers } from '../../json/exactjson.ts'
import { maxDepth, surveySteps } from '../../json/json.ts'
import { parseJsonSteps } from '../../json/jsonsteps.ts'
import { groupIn } from '../../meta/object.ts'
import {
  envelope,
  kindFields,
  type MessageField,
  type MessageFields,
  magic,
  messageFields,
  typeMeta,
} from './fields.ts'
import { type WireField, WireReader, wireFields } from './wire.ts'

/** Bytes of fields that are decoded between two steps. */
const bytesOfStep = 4 * 1024
/** Fields of a value or of an entry of a map. */
const mostRepeated = 1_000
/** Texts of a list that are decoded between two steps. */
const textsOfStep = 1_000

/** The most values of an object, and the most entries of one map. */
export interface ProtobufLimits {
  readonly values: number
  readonly members: number
}

/** An object has more values than it may have. */
export class TooManyValues extends Error {
  override readonly name = 'TooManyValues'
}

const unlimited: ProtobufLimits = { values: Number.POSITIVE_INFINITY, members: Number.POSITIVE_INFINITY }

/** The work on one object. */
interface Decoding {
  /** Values that it may still have. */
  left: number
  readonly members: number
}

/**
 * Decodes a protobuf object into the JSON value that the same client would send, in steps. Throws `SyntaxError` for bytes that
 * are not Kubernetes protobuf and for unknown kinds (rules.md 11.10), `TooManyValues`, and `TooManyMembers` with the name of the map.
 * `fieldsOfKind`: the kinds that are known.
 */
export function* protobufSteps(
  bytes: Buffer,
  { values, members }: ProtobufLimits = unlimited,
  fieldsOfKind = kindFields,
): Generator<void, unknown> {
  if (!bytes.subarray(0, magic.length).equals(magic))
    throw new SyntaxError(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    )
  const decoding = { left: values, members }
  const unknown = yield* messageSteps(envelope, bytes.subarray(magic.length), 0, decoding)
  const { apiVersion = '', kind = '' } = (unknown.type ?? {}) as { apiVersion?: string; kind?: string }
  const raw = (unknown.raw ?? noBytes) as Buffer
  const fields = fieldsOfKind(groupIn(apiVersion), kind)
  if (fields === undefined) throw new SyntaxError(`no kind ${JSON.stringify(kind)} is known in protobuf`)
  return { apiVersion, kind, ...(yield* messageSteps(fields, raw, 0, decoding)) }
}

type Value = Record<string, unknown>

function* messageSteps(
  fields: MessageFields,
  bytes: Buffer,
  depth: number,
  decoding: Decoding,
): Generator<void, Value> {
  if (depth > maxDepth) throw new SyntaxError('exceeded max depth')
  const members: Value = {}
  for (const { name, mark } of fields.values()) if (mark === '!') members[name] = false
  const reader = new WireReader(bytes)
  let [work, entries] = [0, 0]
  while (reader.hasMore) {
    const { number, value } = reader.next()
    const field = fields.get(number)
    if (field !== undefined) {
      const read = special[field.type]
      count(decoding)
      if (field.shape === 'map' && ++entries > decoding.members) throw new TooManyMembers(field.name)
      const decoded = read ? leafOf(field, value, read) : yield* fieldSteps(field, value, depth, decoding)
      addField(members, field, decoded)
    }
    work += typeof value === 'bigint' ? 1 : 1 + value.length
    if (work > bytesOfStep) {
      yield
      work = 0
    }
  }
  return members
}

function leafOf({ shape }: MessageField, value: WireField['value'], read: Read): unknown {
  if (shape !== 'map') return read(value)
  const entry = entryOf(bytesOf(value))
  return [entry.key, read(entry.value)]
}

function* fieldSteps(
  { type, shape }: MessageField,
  value: WireField['value'],
  depth: number,
  decoding: Decoding,
): Generator<void, unknown> {
  if (shape !== 'map') return yield* valueSteps(type, bytesOf(value), depth, decoding)
  const entry = entryOf(bytesOf(value))
  return [entry.key, yield* valueSteps(type, entry.value, depth, decoding)]
}

/** `decoded`: the value of the field; of a map one entry, of a list one item. */
function addField(members: Value, { name, shape, mark }: MessageField, decoded: unknown): void {
  if (shape === 'map') addEntry(collected<Value>(members, name, {}), decoded as MapEntry)
  else if (mark === '^') Object.assign(members, decoded)
  else if (shape === 'list') collected<unknown[]>(members, name, []).push(decoded)
  else if (mark !== '' || !isZero(decoded)) members[name] = decoded
}

/** The entries or items of a repeated field so far. */
function collected<T extends object>(members: Value, name: string, empty: T): T {
  members[name] ??= empty
  return members[name] as T
}

type MapEntry = readonly [key: string, value: unknown]

/** An assignment to `__proto__` would set the prototype. */
function addEntry(map: Value, [key, value]: MapEntry): void {
  if (key === '__proto__')
    Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true })
  else map[key] = value
}

const isZero = (value: unknown): boolean =>
  value === '' ||
  value === 0 ||
  value === false ||
  value === null ||
  (typeof value === 'object' && !Buffer.isBuffer(value) && Object.keys(value).length === 0)

function entryOf(entry: Buffer): { readonly key: string; readonly value: Buffer } {
  return { key: last(entry, 1)?.toString('utf8') ?? '', value: last(entry, 2) ?? noBytes }
}

const noBytes = Buffer.alloc(0)

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

type Read = (value: WireField['value']) => unknown

/** Types with their own encoding, by name. */
const special: Readonly<Record<string, Read>> = {
  text: value => bytesOf(value).toString('utf8'),
  bytes: value => bytesOf(value).toString('base64'),
  raw: bytesOf,
  int: integerOf,
  bool: value => integerOf(value) !== 0,
  double: value => doubleOf(bytesOf(value)),
  Time: value => timeOf(bytesOf(value), 'seconds'),
  MicroTime: value => timeOf(bytesOf(value), 'microseconds'),
  Quantity: value => last(bytesOf(value), 1)?.toString('utf8') ?? '0',
}

type ReadSteps = (value: Buffer, decoding: Decoding) => Generator<void, unknown>

/** Types with their own encoding that may have many values, by name. */
const specialSteps: Readonly<Record<string, ReadSteps>> = { Json: jsonSteps, TextList: textsSteps }

function* jsonSteps(value: Buffer, decoding: Decoding): Generator<void, unknown> {
  const json = last(value, 1)
  if (json === undefined) return null
  count(decoding, (yield* surveySteps(json)).values)
  return yield* parseJsonSteps(json.toString('utf8'), { values: Number.POSITIVE_INFINITY })
}

function* textsSteps(value: Buffer, decoding: Decoding): Generator<void, unknown> {
  const texts: string[] = []
  for (const text of all(value, 1)) {
    count(decoding)
    texts.push(text.toString('utf8'))
    if (texts.length % textsOfStep === 0) yield
  }
  return texts
}

function count(decoding: Decoding, values = 1): void {
  decoding.left -= values
  if (decoding.left < 0) throw new TooManyValues()
}

/** Types that JSON has without the message that protobuf has around them, by name. */
const wrapped: Readonly<
  Record<string, { readonly message: string; readonly unwrap: (value: Value) => unknown }>
> = {
  SchemaOrArray: { message: 'SchemaItems', unwrap: ({ schema, schemas }) => schema ?? schemas ?? {} },
  SchemaOrBool: { message: 'SchemaAllowed', unwrap: ({ schema, allows }) => schema ?? allows },
}

const fieldsOf = (message: string): MessageFields =>
  message === 'TypeMeta' ? typeMeta : (messageFields(message) ?? new Map())

function* valueSteps(
  type: string,
  bytes: Buffer,
  depth: number,
  decoding: Decoding,
): Generator<void, unknown> {
  const steps = specialSteps[type]
  if (steps !== undefined) return yield* steps(bytes, decoding)
  const wrapping = wrapped[type]
  const message = yield* messageSteps(fieldsOf(wrapping?.message ?? type), bytes, depth + 1, decoding)
  return wrapping === undefined ? message : wrapping.unwrap(message)
}

function* all(message: Buffer, number: number): Generator<Buffer> {
  for (const field of wireFields(message)) if (field.number === number) yield bytesOf(field.value)
}

/** The fields of a message that has one or two unless a client repeats them: they are read in one step. */
function* fewFields(message: Buffer): Generator<WireField> {
  let left = mostRepeated
  for (const field of wireFields(message)) {
    if (--left < 0) throw new SyntaxError('proto: too many fields in one value')
    yield field
  }
}

/** Of a repeated field, generated code keeps the last one (`Unmarshal` in `k8s.io/api/core/v1/generated.pb.go`). */
function last(message: Buffer, number: number): Buffer | undefined {
  let found: Buffer | undefined
  for (const field of fewFields(message)) if (field.number === number) found = bytesOf(field.value)
  return found
}

/** RFC 3339 in UTC; null for the zero time, which is an empty message. */
function timeOf(message: Buffer, precision: 'seconds' | 'microseconds'): string | null {
  let [seconds, nanos] = [0, 0]
  for (const { number, value } of fewFields(message)) {
    if (number === 1) seconds = integerOf(value)
    if (number === 2) nanos = integerOf(value)
  }
  if (seconds === 0 && nanos === 0) return null
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) throw new SyntaxError('proto: time out of range')
  const fraction = precision === 'microseconds' ? `.${String(Math.trunc(nanos / 1000)).padStart(6, '0')}` : ''
  return date.toISOString().replace(/\.\d+Z$/, `${fraction}Z`)
}
