import { isObject, typeOf } from '../../framework/formats/values.ts'

/** `metadata` as Kubernetes would have read it. */
export interface TypedMetadata {
  /** The same value when there was nothing to change. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** Paths below metadata of fields that it does not have: `foo`, `ownerReferences[0].bar`. */
  readonly unknown: readonly string[]
  /** What cannot be read, in the words of Go's JSON decoder. */
  readonly problem?: string
}

interface Reading {
  readonly unknown: string[]
  problem?: string
}

/** Reads one field: the value to keep, or undefined for none. `path` is below metadata. */
type Read = (value: unknown, path: string, reading: Reading) => unknown

const jsonNames: Readonly<Record<string, string>> = { boolean: 'bool', integer: 'number' }

const mismatch = (goType: string, value: unknown, path: string): string => {
  const actual = typeOf(value)
  return `json: cannot unmarshal ${jsonNames[actual] ?? actual} into Go struct field ObjectMeta.${path.replace(/\[\d+\]/g, '')} of type ${goType}`
}

function fail(reading: Reading, problem: string): undefined {
  reading.problem ??= problem
}

const scalar =
  (type: 'string' | 'boolean' | 'integer', goType: string): Read =>
  (value, path, reading) =>
    typeOf(value) === type ? value : fail(reading, mismatch(goType, value, path))

const string = scalar('string', 'string')

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
const time: Read = (value, path, reading) => {
  if (typeof value !== 'string') return fail(reading, mismatch('string', value, path))
  if (rfc3339.test(value) && !Number.isNaN(Date.parse(value))) return value
  const text = JSON.stringify(value)
  return fail(reading, `parsing time ${text} as "2006-01-02T15:04:05Z07:00": cannot parse ${text} as "2006"`)
}

/** Anything: the content of managed fields has rules of its own. */
const anything: Read = value => value

/** As Go has it, a null in a map of strings is an empty string. */
const strings: Read = (value, path, reading) => {
  if (!isObject(value)) return fail(reading, mismatch('map[string]string', value, path))
  const entries = Object.entries(value)
  if (entries.every(([, text]) => typeof text === 'string')) return value
  return Object.fromEntries(
    entries.map(([key, text]) => [key, text === null ? '' : string(text, path, reading)]),
  )
}

const list =
  (read: Read, goType: string): Read =>
  (value, path, reading) => {
    if (!Array.isArray(value)) return fail(reading, mismatch(goType, value, path))
    const items = value.map((item, i) => read(item, `${path}[${i}]`, reading))
    return items.every((item, i) => item === value[i]) ? value : items
  }

/** Nulls are fields that were not given. */
const struct =
  (goType: string, fields: Readonly<Record<string, Read>>): Read =>
  (value, path, reading) => {
    if (!isObject(value)) return fail(reading, mismatch(goType, value, path))
    const entries = Object.entries(value)
    const kept = entries.flatMap(([key, member]) => readField(fields, [key, member], path, reading))
    const same = kept.length === entries.length && kept.every(([key, member]) => member === value[key])
    return same ? value : Object.fromEntries(kept)
  }

function readField(
  fields: Readonly<Record<string, Read>>,
  [key, value]: readonly [string, unknown],
  path: string,
  reading: Reading,
): readonly (readonly [string, unknown])[] {
  const below = path === '' ? key : `${path}.${key}`
  if (!Object.hasOwn(fields, key)) {
    reading.unknown.push(below)
    return []
  }
  const read = value === null ? undefined : fields[key]?.(value, below, reading)
  return read === undefined ? [] : [[key, read]]
}

const boolean = scalar('boolean', 'bool')
const int64 = scalar('integer', 'int64')

const ownerReference = struct('v1.OwnerReference', {
  apiVersion: string,
  kind: string,
  name: string,
  uid: string,
  controller: boolean,
  blockOwnerDeletion: boolean,
})

const managedFieldsEntry = struct('v1.ManagedFieldsEntry', {
  manager: string,
  operation: string,
  apiVersion: string,
  time,
  fieldsType: string,
  fieldsV1: anything,
  subresource: string,
})

const objectMeta = struct('v1.ObjectMeta', {
  name: string,
  generateName: string,
  namespace: string,
  // Accepted from old clients, never kept (chapter 40, rule 3.17).
  selfLink: () => undefined,
  uid: string,
  resourceVersion: string,
  generation: int64,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: int64,
  labels: strings,
  annotations: strings,
  ownerReferences: list(ownerReference, '[]v1.OwnerReference'),
  finalizers: list(string, '[]string'),
  managedFields: list(managedFieldsEntry, '[]v1.ManagedFieldsEntry'),
})

/** Reads `metadata` of an object or embedded resource: drops what ObjectMeta has not, and nulls. Absent is empty. */
export function typeMetadata(value: unknown): TypedMetadata {
  if (value === undefined || value === null) return { metadata: {}, unknown: [] }
  const reading: Reading = { unknown: [] }
  if (!isObject(value))
    return {
      metadata: {},
      unknown: [],
      problem: `json: cannot unmarshal ${jsonNames[typeOf(value)] ?? typeOf(value)} into Go value of type v1.ObjectMeta`,
    }
  const metadata = objectMeta(value, '', reading) as TypedMetadata['metadata']
  return { metadata, ...reading }
}
