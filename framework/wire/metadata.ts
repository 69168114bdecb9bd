import { isMembers, isObject, type JsonObject, keysOf, typeOf } from '../json/values.ts'
import { tooLarge } from '../meta/errors.ts'
import { type Metadata, timestamp } from '../meta/object.ts'
import {
  itemStruct,
  type MetaField,
  type MetaStructName,
  type MetaType,
  metaStructs,
} from '../meta/objectmeta.ts'

/** `metadata` as a client sent it, decoded as `ObjectMeta`. */
export interface DecodedMetadata {
  /** The same value if nothing had to be changed. */
  readonly metadata: Metadata
  /** Paths of unknown fields, sorted: `metadata.foo`. */
  readonly unknown: readonly string[]
}

/** A value does not fit its Go type. The message is that of Go's decoder. */
export class DecodeError extends Error {}

/** A custom object without `kind`. */
export class MissingKindError extends Error {}

/** Returns the decoded value, undefined to omit it; adds the paths of unknown fields to `unknown`. */
type Decoder = (value: unknown, path: string, unknown: string[]) => unknown

const jsonNames: Readonly<Record<string, string>> = { boolean: 'bool', integer: 'number' }

/** The type of a JSON value in the messages of Go's decoder. */
export function jsonType(value: unknown): string {
  const type = typeOf(value)
  return jsonNames[type] ?? type
}

function mismatch(value: unknown, path: string, type: string): DecodeError {
  const list = /(\w+)\[\d+\]\./.exec(path)?.[1] ?? ''
  const fields: Readonly<Record<string, MetaField>> = metaStructs.ObjectMeta.fields
  const struct = itemStruct(fields[list]?.type ?? 'string') ?? 'ObjectMeta'
  const target = path === '' ? 'value' : `struct field ${struct}.${path.replace(/\[\d+\]/g, '')}`
  return new DecodeError(`json: cannot unmarshal ${jsonType(value)} into Go ${target} of type ${type}`)
}

const scalar =
  (json: ReturnType<typeof typeOf>, type: MetaType): Decoder =>
  (value, path) => {
    if (typeOf(value) !== json) throw mismatch(value, path, type)
    return value
  }

const text = scalar('string', 'string')

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** Seconds in UTC (rules.md 3.39). */
const time: Decoder = (value, path) => {
  if (typeof value !== 'string') throw mismatch(value, path, 'string')
  const milliseconds = rfc3339.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(milliseconds)) {
    throw new DecodeError(
      `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`,
    )
  }
  return timestamp(new Date(milliseconds))
}

/** A null value is Go's zero value. */
const texts: Decoder = (value, path, unknown) => {
  const fields = fieldsOf(value, path, 'map[string]string')
  if (areTexts(fields)) return value
  return Object.fromEntries(
    Object.entries(fields).map(([key, member]) => [key, member === null ? '' : text(member, path, unknown)]),
  )
}

function areTexts(fields: JsonObject): boolean {
  for (const key in fields) if (typeof fields[key] !== 'string') return false
  return true
}

const listOf =
  (decode: Decoder, type: MetaType): Decoder =>
  (value, path, unknown) => {
    if (!Array.isArray(value)) throw mismatch(value, path, type)
    const items = value.map((item, i) => decode(item, `${path}[${i}]`, unknown))
    return items.every((item, i) => item === value[i]) ? value : items
  }

function structOf(struct: MetaStructName): Decoder {
  const fields = new Map(Object.entries<MetaField>(metaStructs[struct].fields))
  const decoders = new Map([...fields].map(([name, field]) => [name, decoderOf(field)]))
  return (value, path, unknown) => {
    const entries = Object.entries(fieldsOf(value, path, `v1.${struct}`))
    const kept = entries.flatMap(([key, member]): [string, unknown][] => {
      const below = path === '' ? key : `${path}.${key}`
      const decode = decoders.get(key)
      if (decode === undefined) unknown.push(below)
      const decoded = decode === undefined || member === null ? undefined : decode(member, below, unknown)
      return isOmitted(key, decoded) ? [] : [[key, decoded]]
    })
    const isSame = kept.length === entries.length && kept.every(([, member], i) => member === entries[i]?.[1])
    return isSame ? value : Object.fromEntries(kept)
  }
}

const decoders: Readonly<Record<Exclude<MetaType, `[]v1.${MetaStructName}`>, Decoder>> = {
  string: text,
  bool: scalar('boolean', 'bool'),
  int64: scalar('integer', 'int64'),
  'v1.Time': time,
  'v1.FieldsV1': value => value,
  'map[string]string': texts,
  '[]string': listOf(text, '[]string'),
}

function decoderOf({ type, isDropped }: MetaField): Decoder {
  if (isDropped) return () => undefined
  const item = itemStruct(type)
  return item === undefined ? decoders[type as keyof typeof decoders] : listOf(structOf(item), type)
}

function fieldsOf(value: unknown, path: string, type: string): JsonObject {
  if (!isObject(value)) throw mismatch(value, path, type)
  return value
}

/** Go's `omitempty`. An empty list of managedFields is kept: it resets them (rules.md 5.24). */
function isOmitted(key: string, value: unknown): boolean {
  if (value === undefined || value === '') return true
  if (typeof value !== 'object' || value === null || key === 'managedFields') return false
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}

const decodeStruct = structOf('ObjectMeta')

/**
 * Decodes metadata as Go does (rules.md 2.52, 3.34): drops unknown fields, nulls, empty values and selfLink, and converts times
 * to UTC. Throws a `DecodeError` for a value of the wrong type. `path` is the path of metadata in the messages; '' for
 * the metadata of an embedded resource.
 */
export function decodeMetadata(value: unknown, path = 'metadata'): DecodedMetadata {
  if (value === undefined || value === null) return { metadata: {}, unknown: [] }
  const unknown: string[] = []
  const metadata = decodeStruct(value, path, unknown)
  return { metadata: metadata as Metadata, unknown: unknown.sort() }
}

/**
 * The most labels, annotations and finalizers, each, of an object: they are copied several times. Each owner is looked up, and what has
 * changed of the owners is found in one step.
 */
const mostOf = { labels: 10_000, annotations: 10_000, finalizers: 10_000, ownerReferences: 1_000 }

/** Checks `metadata` as a client sent it, or as it is after a patch. Throws 413; `after` is the end of the message. */
export function checkTexts(metadata: unknown, after = ''): void {
  if (!isMembers(metadata)) return
  for (const [field, most] of Object.entries(mostOf)) {
    const texts = metadata[field]
    const count = Array.isArray(texts) ? texts.length : isMembers(texts) ? keysOf(texts).length : 0
    if (count > most) throw tooLarge(`limit is ${most} ${field}: metadata.${field}${after}`)
  }
}
