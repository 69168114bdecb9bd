import { isObject, memberOf } from '../../framework/json/values.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { MapView, ObjectView } from '../values/maps.ts'
import { parseDuration, parseTimestamp } from '../values/time.ts'
import {
  CelDuration,
  CelError,
  CelTimestamp,
  type CelValue,
  Double,
  isList,
  isMap,
  itemsOf,
  type ListKind,
  ListView,
  Optional,
  StructValue,
  type TypeAdapter,
  UntypedValue,
} from '../values/value.ts'

const invalid = (expected: string, raw: unknown): CelError =>
  new CelError(`invalid data, expected ${expected}, got ${raw === null ? '<nil>' : typeof raw}`)

const textAs =
  (read: (text: string) => CelValue): TypeAdapter =>
  raw =>
    typeof raw === 'string' ? read(raw) : raw === null ? null : invalid('string', raw)

const unitNames: readonly (readonly [names: RegExp, nanos: bigint])[] = [
  [/^(?:ns|nano.*)$/i, 1n],
  [/^(?:us|µs|micro.*)$/i, 1_000n],
  [/^(?:ms|milli.*)$/i, 1_000_000n],
  [/^(?:s|sec.*)$/i, 1_000_000_000n],
  [/^(?:m|min.*)$/i, 60_000_000_000n],
  [/^(?:h|hr|hour.*)$/i, 3_600_000_000_000n],
  [/^(?:d|day.*)$/i, 86_400_000_000_000n],
  [/^(?:w|wk|week.*)$/i, 604_800_000_000_000n],
]

/** `1h30m`, or with unit names: `3 days` (`k8s.io/kube-openapi/pkg/validation/strfmt`). */
function readDuration(text: string): CelValue {
  const duration = parseDuration(text)
  if (duration !== undefined) return duration
  let nanos: bigint | undefined
  for (const [, count = '0', name = ''] of text.matchAll(/(\d{1,18})\s*([a-zµ]+)/gi)) {
    const unit = unitNames.find(([names]) => names.test(name))
    if (unit !== undefined) nanos = (nanos ?? 0n) + BigInt(count) * unit[1]
  }
  if (nanos !== undefined) return new CelDuration(nanos)
  return new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`)
}

function readDate(text: string): CelValue {
  return (
    (/^\d{4}-\d\d-\d\d$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined) ??
    new CelError(`Invalid date formatted string ${text}: cannot parse "${text}"`)
  )
}

function readDateTime(text: string): CelValue {
  if (text === '') return new CelTimestamp(0, 0)
  return (
    parseTimestamp(text.toUpperCase()) ??
    new CelError(`Invalid date-time formatted string ${text}: cannot parse "${text}"`)
  )
}

const byFormat: Readonly<Record<string, TypeAdapter>> = {
  duration: textAs(readDuration),
  date: textAs(readDate),
  'date-time': textAs(readDateTime),
  byte: textAs(text => new Uint8Array(Buffer.from(text, 'base64'))),
}

const plainText: TypeAdapter = textAs(text => text)

export const adaptString = ({ format = '' }: JSONSchemaProps): TypeAdapter =>
  Object.hasOwn(byFormat, format) ? (byFormat[format] ?? plainText) : plainText

export const adaptInteger: TypeAdapter = raw =>
  typeof raw === 'bigint' || Number.isInteger(raw) || raw === null ? (raw as CelValue) : invalid('int', raw)

export const adaptNumber: TypeAdapter = raw => {
  if (raw === null) return null
  return typeof raw === 'number' || typeof raw === 'bigint' ? new Double(Number(raw)) : invalid('float', raw)
}

export const adaptBoolean: TypeAdapter = raw =>
  typeof raw === 'boolean' || raw === null ? raw : invalid('bool', raw)

/** An integer or a string, unchanged. */
export const adaptIntOrString: TypeAdapter = raw =>
  typeof raw === 'string'
    ? raw
    : typeof raw === 'number' || typeof raw === 'bigint' || raw === null
      ? raw
      : invalid('XIntOrString value to be either a string or integer', raw)

export const adaptUnknown: TypeAdapter = raw => (raw === null ? null : new UntypedValue(raw))

/** The list type of a schema. */
export function listKind(schema: JSONSchemaProps): ListKind {
  const type = schema['x-kubernetes-list-type'] ?? 'atomic'
  if (type !== 'map') return { type }
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  return {
    type,
    keyOf: raw =>
      JSON.stringify(
        keys.map(key => memberOf(raw, key) ?? null),
        (_key, value) => (typeof value === 'bigint' ? `${value}n` : value),
      ),
  }
}

/** Adapts JSON without a schema: the kind of a value follows from its JSON type. */
export const adaptDynamic: TypeAdapter = raw => {
  if (typeof raw === 'number') return Number.isInteger(raw) ? raw : new Double(raw)
  if (Array.isArray(raw)) return new ListView(raw, adaptDynamic, { type: 'atomic' })
  if (isObject(raw)) return new MapView(raw, adaptDynamic)
  return raw === undefined ? null : (raw as CelValue)
}

/** The JSON of a value; undefined for values without JSON, such as types. */
export function toJson(value: CelValue): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof Double) return value.value
  if (value instanceof ListView || value instanceof MapView || value instanceof ObjectView) return value.raw
  if (isList(value)) return [...itemsOf(value)].map(toJson)
  if (value instanceof StructValue)
    return Object.fromEntries([...value.fields].map(([name, field]) => [name, toJson(field)]))
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value)
  return isMap(value)
    ? Object.fromEntries(value.keys().map(key => [String(key), toJson(value.get(key) ?? null)]))
    : undefined
}
