import type { Metadata } from '../meta/object.ts'
import { timestamp } from '../meta/timestamp.ts'

/** `metadata` as a client sent it, read as `ObjectMeta`. */
export interface DecodedMetadata {
  readonly metadata: Metadata
  /** Paths of members that metadata does not have, sorted: `metadata.foo`. */
  readonly unknown: readonly string[]
}

/** A value that does not fit its Go type, in the words of Go's decoder. */
export class DecodeError extends Error {}

/** A custom object that does not say its kind: nobody but the resource would know it. */
export class MissingKindError extends Error {}

type Members = Readonly<Record<string, unknown>>
/** Returns the value to keep, undefined to drop it; puts the paths of what it does not know into `unknown`. */
type Reader = (value: unknown, path: string, unknown: string[]) => unknown

/** What a decoder calls a JSON value. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'bigint' ? 'number' : typeof value
}

const elements: Readonly<Record<string, string>> = {
  ownerReferences: 'OwnerReference',
  managedFields: 'ManagedFieldsEntry',
}

function mismatch(value: unknown, path: string, type: string): DecodeError {
  const struct = elements[/(\w+)\[\d+\]\./.exec(path)?.[1] ?? ''] ?? 'ObjectMeta'
  const field = `${struct}.${path.replace(/\[\d+\]/g, '')}`
  return new DecodeError(
    `json: cannot unmarshal ${jsonType(value)} into Go struct field ${field} of type ${type}`,
  )
}

const text: Reader = (value, path) => {
  if (typeof value !== 'string') throw mismatch(value, path, 'string')
  return value
}

const integer: Reader = (value, path) => {
  if (typeof value === 'bigint' || Number.isInteger(value)) return value
  throw mismatch(value, path, 'int64')
}

const flag: Reader = (value, path) => {
  if (typeof value !== 'boolean') throw mismatch(value, path, 'bool')
  return value
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** Whole seconds in UTC (chapter 40, rule 3.39). */
const time: Reader = (value, path) => {
  if (typeof value !== 'string') throw mismatch(value, path, 'v1.Time')
  const milliseconds = rfc3339.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(milliseconds)) {
    throw new DecodeError(
      `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`,
    )
  }
  return timestamp(new Date(milliseconds))
}

const texts: Reader = (value, path, unknown) => {
  const entries = Object.entries(membersOf(value, path, 'map[string]string'))
  // A null value is Go's zero value.
  return Object.fromEntries(
    entries.map(([key, member]) => [key, member === null ? '' : text(member, path, unknown)]),
  )
}

const listOf =
  (read: Reader, type: string): Reader =>
  (value, path, unknown) => {
    if (!Array.isArray(value)) throw mismatch(value, path, type)
    return value.map((item, i) => read(item, `${path}[${i}]`, unknown))
  }

const structOf =
  (readers: Readonly<Record<string, Reader>>, type: string): Reader =>
  (value, path, unknown) => {
    const entries = Object.entries(membersOf(value, path, type)).flatMap(
      ([key, member]): [string, unknown][] => {
        const read = Object.hasOwn(readers, key) ? readers[key] : undefined
        if (read === undefined) unknown.push(`${path}.${key}`)
        const kept =
          read === undefined || member === null ? undefined : read(member, `${path}.${key}`, unknown)
        return isAbsent(key, kept) ? [] : [[key, kept]]
      },
    )
    return Object.fromEntries(entries)
  }

const owner = structOf(
  { apiVersion: text, kind: text, name: text, uid: text, controller: flag, blockOwnerDeletion: flag },
  'v1.OwnerReference',
)

const managed = structOf(
  {
    manager: text,
    operation: text,
    apiVersion: text,
    time,
    fieldsType: text,
    fieldsV1: value => value,
    subresource: text,
  },
  'v1.ManagedFieldsEntry',
)

const metadataMembers: Readonly<Record<string, Reader>> = {
  name: text,
  generateName: text,
  namespace: text,
  selfLink: value => void value,
  uid: text,
  resourceVersion: text,
  generation: integer,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: integer,
  labels: texts,
  annotations: texts,
  ownerReferences: listOf(owner, '[]v1.OwnerReference'),
  finalizers: listOf(text, '[]string'),
  managedFields: listOf(managed, '[]v1.ManagedFieldsEntry'),
}

function membersOf(value: unknown, path: string, type: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch(value, path, type)
  return value as Members
}

/** What Go omits when it is empty. An empty list of managedFields is a client's wish to forget them (rule 5.24). */
function isAbsent(key: string, value: unknown): boolean {
  if (value === undefined || value === '') return true
  if (typeof value !== 'object' || value === null || key === 'managedFields') return false
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}

/**
 * Checks and coerces metadata (chapter 40, rules 3.34 and 2.52): members of the wrong type throw a `DecodeError`, unknown
 * ones are dropped and named, nulls and selfLink are dropped, times become UTC.
 */
export function decodeMetadata(value: unknown): DecodedMetadata {
  if (value === undefined || value === null) return { metadata: {}, unknown: [] }
  const unknown: string[] = []
  const metadata = structOf(metadataMembers, 'v1.ObjectMeta')(value, 'metadata', unknown)
  return { metadata: metadata as Metadata, unknown: unknown.sort() }
}
