import type { DecodingScope } from '../../framework/contract/schema.ts'
import { Findings } from '../../framework/json/json.ts'
import { isObject, type JsonObject, keysOf, LazyMembers, lazily } from '../../framework/json/values.ts'
import { fieldErrorBody } from '../../framework/meta/errors.ts'
import { formatPath, invalidValue, type PathStep } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { DecodeError, decodeMetadata } from '../../framework/wire/metadata.ts'
import { CompiledSize, maxSchemaDepth, requireDepth } from '../nodes/nodes.ts'
import { DefaultsAllowance, type Fallback, fallbackOf } from './defaulting.ts'

/** The current path of decoding, and the dropped fields. */
interface Decoding {
  readonly steps: PathStep[]
  readonly unknown: Findings<string>
  /** Unknown fields of metadata. */
  readonly unknownOfMetadata: Findings<string>
  readonly allowance: () => DefaultsAllowance
  /** Whether nulls that may not be stay, unless there is a default. */
  readonly keepsNulls: boolean
}

/** Prunes, drops nulls and applies defaults in one pass. Returns the same value if nothing changes. */
type Decode = (value: unknown, decoding: Decoding) => unknown

const newDecoding = (allowance: () => DefaultsAllowance, keepsNulls = false): Decoding => ({
  steps: [],
  unknown: new Findings(),
  unknownOfMetadata: new Findings(),
  allowance,
  keepsNulls,
})

/** The decoder of a member of an object. */
interface Member {
  readonly decode: Decode
  readonly nullable: boolean
  /** Whether validation refuses null. */
  readonly typed: boolean
  readonly fallback: Fallback | undefined
}

interface ObjectShape {
  readonly members: LazyMembers<JSONSchemaProps, Member>
  readonly other: Member | undefined
  readonly defaults: readonly (readonly [string, Fallback])[]
  /** Whether no member is specified. */
  readonly isEmpty: boolean
  /** Whether unknown members are preserved. */
  readonly preserve: boolean
  /** Whether apiVersion, kind and metadata are those of an object. */
  readonly embedded: boolean
}

/** A decoded value. */
export interface PrunedValue {
  readonly value: unknown
  /** Sorted paths of unknown fields; those of metadata come last. */
  readonly unknown: readonly string[]
}

/** The position of a node. `root` is a whole object; `preserve` is inherited from a list with unknown fields preserved. */
interface Place {
  readonly root: boolean
  readonly preserve: boolean
  /** Whether defaults are applied. */
  readonly defaults: boolean
  readonly depth: number
  readonly known: Decodes
  readonly size: CompiledSize
  /** Of the defaults inside defaults. */
  readonly allowance: () => DefaultsAllowance
}

/** Compiled decoders, shared between a schema and its parts. */
export type Decodes = Map<JSONSchemaProps, Decode>

/**
 * Compiles pruning, removal of nulls and defaulting (rules.md 7.18 to 7.22), and what is below the properties of the schema when it is
 * needed. Throws if the schema is nested too deep, and a `DefaultsLimitError` with a strict `allowance`; the returned
 * function throws `UnreadableError`, and a `DefaultsLimitError` unless the object is a stored one.
 */
export function compilePruning(
  schema: JSONSchemaProps,
  place: Partial<Place> = {},
): (value: unknown, scope?: DecodingScope) => PrunedValue {
  const decode = compileDecode(schema, { ...anyPlace(), ...place })
  return (value, { stored, applied } = {}) => {
    const allowance = lazily(() => new DefaultsAllowance({ strict: stored !== true }))
    const decoding = newDecoding(allowance, applied)
    const pruned = decode(value, decoding)
    const { unknown, unknownOfMetadata } = decoding
    return { value: pruned, unknown: [...unknown.all.sort(), ...unknownOfMetadata.all.sort()] }
  }
}

const anyPlace = (): Place => ({
  root: false,
  preserve: false,
  defaults: true,
  depth: maxSchemaDepth,
  known: new Map(),
  size: new CompiledSize(),
  allowance: lazily(() => new DefaultsAllowance({ strict: false })),
})

function compileDecode(schema: JSONSchemaProps, place: Place): Decode {
  requireDepth(place.depth)
  if (place.root || place.preserve) return nodeDecode(schema, place)
  const decode = place.known.get(schema) ?? nodeDecode(schema, place)
  place.known.set(schema, decode)
  return decode
}

function nodeDecode(schema: JSONSchemaProps, place: Place): Decode {
  place.size.nodes++
  const preserve = place.preserve || schema['x-kubernetes-preserve-unknown-fields'] === true
  const depth = place.depth - 1
  const items =
    schema.items === undefined
      ? undefined
      : compileMember(schema.items, { ...place, root: false, preserve, depth })
  const shapeOnce = lazily(() => shapeOf(schema, { ...place, preserve, depth }))
  return (value, decoding) => {
    if (typeof value !== 'object' || value === null) return value
    if (!isObject(value)) return decodeList(items, preserve, value as readonly unknown[], decoding)
    const shape = shapeOnce()
    return shape.isEmpty && preserve ? value : decodeObject(shape, value, decoding)
  }
}

const hasDefault = ({ default: value }: JSONSchemaProps, { defaults }: Place): boolean =>
  defaults && value !== undefined && value !== null

function compileMember(schema: JSONSchemaProps, place: Place): Member {
  const decode = compileDecode(schema, place)
  const { default: value, nullable = false, type } = schema
  const typed = type !== undefined || schema['x-kubernetes-int-or-string'] === true
  if (!hasDefault(schema, place)) return { decode, nullable, typed, fallback: undefined }
  return { decode, nullable, typed, fallback: fallbackOf(decode(value, newDecoding(place.allowance))) }
}

function shapeOf(schema: JSONSchemaProps, place: Place): ObjectShape {
  const below: Place = { ...place, root: false, preserve: false }
  const { properties, additionalProperties: other } = schema
  const members = new LazyMembers(properties, property => compileMember(property, below))
  const unlisted = isObject(other) ? compileMember(other, below) : other === true ? unspecified : undefined
  const embedded = place.root || schema['x-kubernetes-embedded-resource'] === true
  return {
    members,
    other: unlisted,
    defaults: defaultsOf(properties, members, below),
    isEmpty: members.isEmpty && unlisted === undefined && !embedded,
    preserve: place.preserve,
    embedded,
  }
}

function defaultsOf(
  properties: JSONSchemaProps['properties'] = {},
  members: LazyMembers<JSONSchemaProps, Member>,
  place: Place,
): ObjectShape['defaults'] {
  const names = Object.keys(properties).filter(name => hasDefault(properties[name] ?? {}, place))
  return names.flatMap(name => {
    const fallback = members.get(name)?.fallback
    return fallback === undefined ? [] : [[name, fallback] as const]
  })
}

const pathTo = (decoding: Decoding, key: PathStep): string => formatPath([...decoding.steps, key])

function isUnknown(decoding: Decoding, key: PathStep): void {
  if (!decoding.unknown.isFull) add(decoding.unknown, pathTo(decoding, key))
}

const add = (findings: Findings<string>, path: string): void => findings.add(path, path.length)

/** Decodes a value without a schema: scalars stay, members of objects are unknown. */
function pruneAll(value: unknown, decoding: Decoding): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (!isObject(value)) return mapItems(value as readonly unknown[], pruneAll, decoding)
  const keys = keysOf(value)
  for (const key of keys) isUnknown(decoding, key)
  return keys.length === 0 ? value : {}
}

const unspecified: Member = { decode: pruneAll, nullable: true, typed: false, fallback: undefined }

function mapItems(items: readonly unknown[], decode: Decode, decoding: Decoding): readonly unknown[] {
  let changed: unknown[] | undefined
  items.forEach((item, i) => {
    decoding.steps.push(i)
    const next = decode(item, decoding)
    decoding.steps.pop()
    if (next !== item) changed ??= [...items]
    if (changed !== undefined) changed[i] = next
  })
  return changed ?? items
}

/** A null item becomes the default if there is one; else it stays, and validation reports it. */
function decodeList(
  items: Member | undefined,
  preserve: boolean,
  value: readonly unknown[],
  decoding: Decoding,
): readonly unknown[] {
  if (items === undefined) return preserve ? value : mapItems(value, pruneAll, decoding)
  const { decode, nullable, fallback } = items
  const orDefault = (d: Decoding): unknown =>
    fallback !== undefined && isAdded(fallback, d) ? fallback.value : null
  return mapItems(value, (item, d) => (item === null && !nullable ? orDefault(d) : decode(item, d)), decoding)
}

/** Whether the allowance has room for a default; the path of the field is that of `steps` and `key`. */
const isAdded = ({ cost }: Fallback, { allowance, steps }: Decoding, ...key: PathStep[]): boolean =>
  allowance().takes(cost, () => formatPath([...steps, ...key]))

const dropped = Symbol('dropped')

function decodeObject(shape: ObjectShape, value: JsonObject, decoding: Decoding): unknown {
  const keys = keysOf(value)
  let changed: (readonly [string, unknown])[] | undefined
  keys.forEach((key, i) => {
    const next = decodeMember(shape, [key, value[key]], decoding)
    if (next !== value[key]) changed ??= keys.slice(0, i).map(k => [k, value[k]])
    if (next !== dropped) changed?.push([key, next])
  })
  const missing = missingDefaults(shape, value, decoding)
  if (changed === undefined && missing.length === 0) return value
  return Object.fromEntries([...(changed ?? Object.entries(value)), ...missing])
}

function missingDefaults(
  { defaults }: ObjectShape,
  value: JsonObject,
  decoding: Decoding,
): readonly (readonly [string, unknown])[] {
  // Saves the lookup of each default for every object of a list.
  if (defaults.length === 0 || decoding.allowance().isSpent) return []
  return defaults
    .filter(([key]) => !Object.hasOwn(value, key) || value[key] === undefined)
    .filter(([key, fallback]) => isAdded(fallback, decoding, key))
    .map(([key, fallback]) => [key, fallback.value])
}

function decodeMember(
  shape: ObjectShape,
  [key, value]: readonly [string, unknown],
  decoding: Decoding,
): unknown {
  if (value === undefined) return value
  if (shape.embedded && key === 'metadata') return decodeEmbeddedMetadata(value, decoding)
  const member = shape.members.get(key) ?? shape.other
  if (shape.embedded && (key === 'apiVersion' || key === 'kind')) return decodeTypeMeta(key, value, decoding)
  if (member === undefined) {
    if (shape.preserve) return value
    isUnknown(decoding, key)
    return dropped
  }
  if (value === null && !member.nullable) return defaultOf(member, key, decoding)
  decoding.steps.push(key)
  const next = member.decode(value, decoding)
  decoding.steps.pop()
  return next
}

function defaultOf({ fallback, typed }: Member, key: string, decoding: Decoding): unknown {
  if (fallback !== undefined && isAdded(fallback, decoding, key)) return fallback.value
  return decoding.keepsNulls && typed ? null : dropped
}

/** Thrown for apiVersion, kind or metadata of the wrong type, with the message of Kubernetes. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}

const unreadable = (path: string, value: unknown, problem: string): UnreadableError =>
  new UnreadableError(`${path}: ${fieldErrorBody(invalidValue(path, value, problem))}`)

function decodeTypeMeta(key: string, value: unknown, decoding: Decoding): unknown {
  if (typeof value === 'string') return value
  throw unreadable(pathTo(decoding, key), value, 'must be a string')
}

function decodeEmbeddedMetadata(value: unknown, decoding: Decoding): unknown {
  try {
    const { metadata, unknown } = decodeMetadata(value, '')
    for (const field of unknown)
      add(decoding.unknownOfMetadata, formatPath([...decoding.steps, 'metadata', field]))
    return metadata
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const { message } = error
    if (decoding.steps.length === 0) throw new UnreadableError(message)
    throw unreadable(pathTo(decoding, 'metadata'), value, message)
  }
}
