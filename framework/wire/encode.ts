import { canonical, canonicalJson, formatJson, parseJson } from '../json/json.ts'
import type { KubeObject, Metadata } from '../meta/object.ts'

/**
 * The canonical encoding of an object: JSON on one line,
 *
 *     {"apiVersion":"v1","kind":"K","metadata":{"annotations":{…},"labels":{…},"resourceVersion":"7",…},"spec":{…}}
 *                                              ^metadata         ^labels      ^version             ^rest ^end
 *
 * with sorted keys below that. Annotations, labels and resourceVersion are omitted when empty, so that an offset may be
 * equal to the next one. What a view may rewrite lies in front: the rest is copied as bytes.
 */
export interface Encoded {
  readonly bytes: Buffer
  readonly offsets: Offsets
}

/** Byte offsets into canonical bytes. */
export interface Offsets {
  /** Just behind `"metadata":{`; the member `annotations` starts here if there is one. */
  readonly metadata: number
  /** The member `labels` starts here if there is one. */
  readonly labels: number
  /** The member `resourceVersion` starts here if there is one. */
  readonly version: number
  /** The first of the other members of metadata, or its closing brace. */
  readonly rest: number
  /** The closing brace of metadata. */
  readonly end: number
}

export type Texts = Readonly<Record<string, string>>

const comma = 0x2c
const closingBrace = 0x7d
const annotationsKey = '"annotations":'
const labelsKey = '"labels":'
const versionKey = '"resourceVersion":'

/** Like `canonicalJson`, for members that are nearly always sorted already. */
function textsJson(texts: Texts): string {
  let previous = ''
  for (const key in texts) {
    if (key < previous) return canonicalJson(texts)
    previous = key
  }
  return JSON.stringify(texts)
}

/** The member `annotations` or `labels` as JSON; '' when there would be nothing in it. */
function textsMember(key: string, texts: Texts | undefined): string {
  const json = texts === undefined ? '{}' : textsJson(texts)
  return json === '{}' ? '' : key + json
}
export const annotationsMember = (texts: Texts | undefined): string => textsMember(annotationsKey, texts)
export const labelsMember = (texts: Texts | undefined): string => textsMember(labelsKey, texts)
const versionMember = (version: string): string =>
  version === '' ? '' : `${versionKey}${JSON.stringify(version)}`

/** What stands between the braces of an object's JSON. */
const inside = (value: object): string => formatJson(value).slice(1, -1)

/** What decoding the encoding of an object would give, made of the same parts where these are canonical. */
export function canonicalObject({ apiVersion, kind, metadata, ...body }: KubeObject): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: inOrder(canonical(metadata) as Metadata),
    ...(canonical(body) as object),
  }
}

function inOrder({ annotations = {}, labels = {}, resourceVersion = '', ...others }: Metadata): Metadata {
  return {
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(resourceVersion !== '' && { resourceVersion }),
    ...others,
  }
}

/** A canonical object at another version; '' is none. */
export const atVersion = (object: KubeObject, resourceVersion: string): KubeObject => ({
  ...object,
  metadata: inOrder({ ...object.metadata, resourceVersion }),
})

/** Encodes any object; `metadata.resourceVersion` is inside when it has one. */
export const encodeObject = (object: KubeObject): Encoded => encodeCanonical(canonicalObject(object))

/** Encodes what `canonicalObject` returns. */
export function encodeCanonical(object: KubeObject): Encoded {
  const { apiVersion, kind, metadata, ...body } = object
  const { annotations, labels, resourceVersion, ...others } = metadata
  const prefix = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":{`
  const rest = inside(others)
  const members = [annotationsMember(annotations), labelsMember(labels), versionMember(resourceVersion ?? '')]
  const last = rest === '' ? members.findLastIndex(member => member !== '') : -1
  const head = members.map((member, i) => (member === '' || i === last ? member : `${member},`))
  const tail = inside(body)
  const bytes = Buffer.from(`${prefix}${head.join('')}${rest}}${tail === '' ? '' : `,${tail}`}}`)
  return { bytes, offsets: offsetsOf([prefix, ...head, rest]) }
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

/** Whether metadata has members behind resourceVersion, as every stored object has; else the commas differ. */
const hasRest = ({ bytes, offsets }: Encoded): boolean => bytes[offsets.rest] !== closingBrace

/** The same object at another version, without parsing. '' takes the version out. */
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

/** The value of a member that fills [from, to), its trailing comma left out. */
function valueBetween(bytes: Buffer, key: string, [from, to]: readonly [number, number]): string {
  const end = bytes[to - 1] === comma ? to - 1 : to
  return bytes.toString('utf8', from + key.length, end)
}

/** Decodes the member `annotations` as it stands in front of others, with a comma; '' has none. */
export const annotationsIn = (member: string): Texts =>
  member === '' ? {} : JSON.parse(member.slice(annotationsKey.length, -1))

/** Decodes the annotations only. */
export function annotationsOf({ bytes, offsets }: Encoded): Texts {
  if (offsets.labels === offsets.metadata) return {}
  return JSON.parse(valueBetween(bytes, annotationsKey, [offsets.metadata, offsets.labels]))
}

/** Decodes the labels only. */
export function labelsOf({ bytes, offsets }: Encoded): Texts {
  if (offsets.version === offsets.labels) return {}
  return JSON.parse(valueBetween(bytes, labelsKey, [offsets.labels, offsets.version]))
}

/** The resourceVersion inside the bytes; '' when there is none. */
export function resourceVersionOf({ bytes, offsets }: Encoded): string {
  if (offsets.rest === offsets.version) return ''
  return JSON.parse(valueBetween(bytes, versionKey, [offsets.version, offsets.rest]))
}

const uidKey = '"uid":"'
const plainText = /^[^"\\]*$/

/** The uid; '' when there is none. It is the last member of sorted metadata, so that it is usually found from behind. */
export function uidOf(encoded: Encoded): string {
  const { bytes, offsets } = encoded
  const at = bytes.lastIndexOf(uidKey, offsets.end)
  if (at >= offsets.rest) {
    const uid = bytes.toString('utf8', at + uidKey.length, offsets.end - 1)
    if (bytes[offsets.end - 1] === 0x22 && plainText.test(uid)) return uid
  }
  return metadataOf(encoded).uid ?? ''
}

/** Decodes the whole of metadata, and nothing else. */
export function metadataOf({ bytes, offsets }: Encoded): Metadata {
  return JSON.parse(bytes.toString('utf8', offsets.metadata - 1, offsets.end + 1))
}

/** Decodes a whole object, canonical or not; integers beyond 2^53 become `bigint`. */
export function decodeObject(bytes: Buffer): KubeObject {
  return parseJson(bytes) as KubeObject
}
