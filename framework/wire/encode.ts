import { canonical, canonicalJson, formatJson, merged, parseJson } from '../json/json.ts'
import { hasManyKeys } from '../json/values.ts'
import type { KubeObject, Metadata } from '../meta/object.ts'

/**
 * The canonical encoding of an object: JSON on one line,
 *
 *     {"apiVersion":"v1","kind":"K","metadata":{"annotations":{…},"labels":{…},"resourceVersion":"7",…},"spec":{…}}
 *                                              ^metadata         ^labels      ^version             ^rest ^end
 *
 * with sorted keys below that. Empty annotations, labels and resourceVersion are omitted: their offset equals the next one.
 * The members that a view may rewrite come first: the rest is copied as bytes.
 */
export interface Encoded {
  readonly bytes: Buffer
  readonly offsets: Offsets
}

/** Byte offsets into canonical bytes. */
export interface Offsets {
  /** The offset behind `"metadata":{`, of the member `annotations` if there is one. */
  readonly metadata: number
  /** The offset of the member `labels` if there is one. */
  readonly labels: number
  /** The offset of the member `resourceVersion` if there is one. */
  readonly version: number
  /** The offset of the first other member of metadata, or of its closing brace. */
  readonly rest: number
  /** The offset of the closing brace of metadata. */
  readonly end: number
}

export type Texts = Readonly<Record<string, string>>

const comma = 0x2c
const closingBrace = 0x7d
const annotationsKey = '"annotations":'
const labelsKey = '"labels":'
const versionKey = '"resourceVersion":'

/** Like `canonicalJson`, for members that are nearly always sorted. */
function textsJson(texts: Texts): string {
  let previous = ''
  for (const key in texts) {
    if (key < previous) return canonicalJson(texts)
    previous = key
  }
  return JSON.stringify(texts)
}

/** The member `annotations` or `labels` as JSON; empty if it has no entries. */
function textsMember(key: string, texts: Texts | undefined): string {
  const json = texts === undefined ? '{}' : textsJson(texts)
  return json === '{}' ? '' : key + json
}
export const annotationsMember = (texts: Texts | undefined): string => textsMember(annotationsKey, texts)
export const labelsMember = (texts: Texts | undefined): string => textsMember(labelsKey, texts)
const versionMember = (version: string): string =>
  version === '' ? '' : `${versionKey}${JSON.stringify(version)}`

/** The JSON of an object without its braces. */
const inside = (value: object): string => formatJson(value).slice(1, -1)

/** The object as decoding its encoding would return it; canonical parts are not copied. */
export function canonicalObject({ apiVersion, kind, metadata, ...body }: KubeObject): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: inOrder(canonical(metadata) as Metadata),
    ...(canonical(body) as object),
  }
}

/** Metadata with the members first that a view may rewrite, without empty ones. */
export function inOrder({
  annotations = {},
  labels = {},
  resourceVersion = '',
  ...others
}: Metadata): Metadata {
  const first: { -readonly [F in 'annotations' | 'labels' | 'resourceVersion']?: Metadata[F] } = {}
  if (Object.keys(annotations).length > 0) first.annotations = annotations
  if (Object.keys(labels).length > 0) first.labels = labels
  if (resourceVersion !== '') first.resourceVersion = resourceVersion
  return merged(first, others)
}

/** A canonical object with another resourceVersion; the empty string removes it. */
export const atVersion = (object: KubeObject, resourceVersion: string): KubeObject =>
  (object.metadata.resourceVersion ?? '') === resourceVersion
    ? object
    : { ...object, metadata: inOrder(merged(object.metadata, { resourceVersion })) }

/** Encodes an object with its resourceVersion, if it has one. */
export const encodeObject = (object: KubeObject): Encoded => encodeCanonical(canonicalObject(object))

/** Encodes the result of `canonicalObject`. */
export function encodeCanonical(object: KubeObject): Encoded {
  const { apiVersion, kind, metadata, ...body } = object
  const prefix = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":{`
  const members = membersOf(metadata)
  const tail = inside(body)
  const bytes = Buffer.from(`${prefix}${members.join('')}}${tail === '' ? '' : `,${tail}`}}`)
  return { bytes, offsets: offsetsOf([prefix, ...members]) }
}

/** Annotations, labels, resourceVersion and the other members of metadata, with their commas. */
function membersOf({ annotations, labels, resourceVersion, ...others }: Metadata): readonly string[] {
  const rest = inside(others)
  const members = [annotationsMember(annotations), labelsMember(labels), versionMember(resourceVersion ?? '')]
  const last = rest === '' ? members.findLastIndex(member => member !== '') : -1
  return [...members.map((member, i) => (member === '' || i === last ? member : `${member},`)), rest]
}

function offsetsOf(parts: readonly string[]): Offsets {
  let at = 0
  const ends = parts.map(part => {
    at += Buffer.byteLength(part)
    return at
  })
  const [metadata = 0, labels = 0, version = 0, rest = 0, end = 0] = ends
  return { metadata, labels, version, rest, end }
}

const shifted = (offsets: Offsets, from: keyof Offsets, by: number): Offsets => {
  const at = offsets[from]
  const move = (offset: number): number => (offset >= at ? offset + by : offset)
  return { ...offsets, rest: move(offsets.rest), end: move(offsets.end) }
}

/** Whether metadata has members after resourceVersion, as all stored objects have; otherwise the commas differ. */
const hasRest = ({ bytes, offsets }: Encoded): boolean => bytes[offsets.rest] !== closingBrace

/** The same object with another resourceVersion, without decoding. The empty string removes it. */
export function withResourceVersion(encoded: Encoded, resourceVersion: string): Encoded {
  if (!hasRest(encoded)) return reencode(encoded, { resourceVersion })
  const { bytes, offsets } = encoded
  const member = Buffer.from(resourceVersion === '' ? '' : `${versionMember(resourceVersion)},`)
  return {
    bytes: Buffer.concat([bytes.subarray(0, offsets.version), member, bytes.subarray(offsets.rest)]),
    offsets: shifted(offsets, 'rest', member.length - (offsets.rest - offsets.version)),
  }
}

/** For the few objects whose commas would not fit: decodes, changes and encodes. */
export function reencode(encoded: Encoded, change: Metadata): Encoded {
  const object = decodeObject(encoded.bytes)
  return encodeObject({ ...object, metadata: { ...object.metadata, ...change } })
}

/** The same object with other metadata. The bytes behind metadata are copied. */
export function withMetadata(encoded: Encoded, change: (metadata: Metadata) => Metadata): Encoded {
  const { bytes, offsets } = encoded
  const members = membersOf(inOrder(canonical(change(metadataOf(encoded))) as Metadata))
  const head = bytes.subarray(0, offsets.metadata)
  return {
    bytes: Buffer.concat([head, Buffer.from(members.join('')), bytes.subarray(offsets.end)]),
    offsets: offsetsOf([head.toString(), ...members]),
  }
}

/** The value of a member in [from, to), without its trailing comma. */
function valueBetween(bytes: Buffer, key: string, [from, to]: readonly [number, number]): string {
  const end = bytes[to - 1] === comma ? to - 1 : to
  return bytes.toString('utf8', from + key.length, end)
}

/** Decodes the member `annotations` with its trailing comma; empty for none. */
export const annotationsIn = (member: string): Texts =>
  member === '' ? {} : JSON.parse(member.slice(annotationsKey.length, -1))

/** Decodes only the annotations. */
export function annotationsOf({ bytes, offsets }: Encoded): Texts {
  if (offsets.labels === offsets.metadata) return {}
  return JSON.parse(valueBetween(bytes, annotationsKey, [offsets.metadata, offsets.labels]))
}

/** Decodes only the labels. */
export function labelsOf({ bytes, offsets }: Encoded): Texts {
  if (offsets.version === offsets.labels) return {}
  return JSON.parse(valueBetween(bytes, labelsKey, [offsets.labels, offsets.version]))
}

/** The resourceVersion in the bytes; empty if there is none. */
export function resourceVersionOf({ bytes, offsets }: Encoded): string {
  if (offsets.rest === offsets.version) return ''
  return JSON.parse(valueBetween(bytes, versionKey, [offsets.version, offsets.rest]))
}

const uidKey = '"uid":"'
const plainText = /^[^"\\]*$/

/** The uid; empty if there is none. It is the last member of sorted metadata and usually found from the end. */
export function uidOf(encoded: Encoded): string {
  const { bytes, offsets } = encoded
  const at = bytes.lastIndexOf(uidKey, offsets.end)
  if (at >= offsets.rest) {
    const uid = bytes.toString('utf8', at + uidKey.length, offsets.end - 1)
    if (bytes[offsets.end - 1] === 0x22 && plainText.test(uid)) return uid
  }
  return metadataOf(encoded).uid ?? ''
}

/** Decodes only metadata. */
export function metadataOf({ bytes, offsets }: Encoded): Metadata {
  return JSON.parse(bytes.toString('utf8', offsets.metadata - 1, offsets.end + 1))
}

/** Decodes an object, canonical or not; integers beyond 2^53 become `bigint`. */
export function decodeObject(bytes: Buffer): KubeObject {
  return parseJson(bytes) as KubeObject
}

/** Values that are copied and encoded at once, in less than a millisecond. */
const few = 512

/** Whether a value has so many values in it that it is processed in steps. */
export const hasMany = (value: unknown): boolean => leftOf(value, few) < 0

/** Objects with many members whose keys are not kept. */
const largeMaps = new WeakSet<object>()

/** How many of `left` values are left after those of `value`; negative if there are more. */
function leftOf(value: unknown, left: number): number {
  let rest = left - 1
  if (typeof value !== 'object' || value === null) return rest
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && rest >= 0; i++) rest = leftOf(value[i], rest)
    return rest
  }
  if (hasManyKeys(value) || largeMaps.has(value)) return -1
  for (const key in value) {
    rest = leftOf((value as Readonly<Record<string, unknown>>)[key], rest)
    if (rest < 0) {
      if (Object.keys(value).length > few) largeMaps.add(value)
      break
    }
  }
  return rest
}
