import type { KubeObject } from '../../../framework/index.ts'
import { managedKeys } from '../../../framework/lens/fieldcutter.ts'
import type { FieldSteps } from './fieldsteps.ts'
import { isFields } from './values.ts'

type Fields = Readonly<Record<string, unknown>>

/** An entry of `metadata.managedFields`. */
interface Entry {
  readonly manager?: string
  readonly operation?: string
  readonly apiVersion?: string
  readonly subresource?: string
  readonly fieldsV1?: Fields
}

const entriesOf = ({ metadata }: KubeObject): readonly Entry[] =>
  (metadata.managedFields ?? []).filter(isFields) as readonly Entry[]

const idOf = ({ manager = '', operation = '', apiVersion = '', subresource = '' }: Entry): string =>
  JSON.stringify([manager, operation, apiVersion, subresource])

/** An entry in two parts. */
interface Divided {
  readonly shown: Entry | undefined
  readonly hidden: Entry | undefined
}

/** Entries for another version, whose fields may have other paths, are hidden. */
function divided(entry: Entry, apiVersion: string, paths: readonly FieldSteps[]): Divided {
  if (entry.apiVersion !== apiVersion) return { shown: undefined, hidden: entry }
  let shown: Fields | undefined = entry.fieldsV1 ?? {}
  let hidden: Fields = {}
  for (const { steps } of paths) {
    const keys = managedKeys(steps)
    const found = fieldsAt(shown, keys)
    if (found === undefined) continue
    hidden = merged(hidden, nested(keys, found))
    shown = without(shown, keys)
  }
  return {
    shown: shown === undefined ? undefined : { ...entry, fieldsV1: shown },
    hidden: Object.keys(hidden).length === 0 ? undefined : { ...entry, fieldsV1: hidden },
  }
}

function fieldsAt(fields: Fields | undefined, keys: readonly string[]): Fields | undefined {
  let found: unknown = fields
  for (const key of keys) found = isFields(found) && Object.hasOwn(found, key) ? found[key] : undefined
  return isFields(found) ? found : undefined
}

const nested = (keys: readonly string[], fields: Fields): Fields =>
  keys.reduceRight<Fields>((inner, key) => ({ [key]: inner }), fields)

/** undefined when nothing is left: an empty object would own the field itself. */
function without(fields: Fields | undefined, [key = '', ...rest]: readonly string[]): Fields | undefined {
  if (fields === undefined || !isFields(fields[key])) return fields
  const { [key]: child, ...others } = fields
  const next = rest.length === 0 ? undefined : without(child as Fields, rest)
  const left = next === undefined ? others : { ...others, [key]: next }
  return Object.keys(left).length === 0 ? undefined : left
}

function merged(a: Fields, b: Fields): Fields {
  const all: Record<string, unknown> = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const known = Object.hasOwn(all, key) ? all[key] : undefined
    all[key] = isFields(known) && isFields(value) ? merged(known, value) : value
  }
  return all
}

const withEntries = (object: KubeObject, entries: readonly Entry[]): KubeObject => {
  const { managedFields: _, ...metadata } = object.metadata
  const managedFields = entries as NonNullable<KubeObject['metadata']['managedFields']>
  return { ...object, metadata: { ...metadata, ...(entries.length > 0 && { managedFields }) } }
}

/** The object without the ownership of hidden fields. */
export function withoutHiddenManagers(object: KubeObject, paths: readonly FieldSteps[]): KubeObject {
  if (object.metadata.managedFields === undefined) return object
  const { apiVersion } = object
  return withEntries(
    object,
    entriesOf(object).flatMap(entry => divided(entry, apiVersion, paths).shown ?? []),
  )
}

/** The object with the ownership of hidden fields that is stored. */
export function withHiddenManagers(
  next: KubeObject,
  stored: KubeObject,
  paths: readonly FieldSteps[],
): KubeObject {
  const hidden = entriesOf(stored).flatMap(entry => divided(entry, stored.apiVersion, paths).hidden ?? [])
  if (hidden.length === 0) return next
  const byId = new Map(hidden.map(entry => [idOf(entry), entry]))
  const entries = entriesOf(next).map(entry => {
    const own = byId.get(idOf(entry))
    byId.delete(idOf(entry))
    return own === undefined
      ? entry
      : { ...entry, fieldsV1: merged(entry.fieldsV1 ?? {}, own.fieldsV1 ?? {}) }
  })
  return withEntries(next, [...entries, ...byId.values()])
}
