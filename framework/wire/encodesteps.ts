import { parseJsonSteps } from '../json/jsonsteps.ts'
import { keysOf } from '../json/values.ts'
import type { KubeObject, Metadata } from '../meta/object.ts'
import { type Encoded, inOrder } from './encode.ts'
import { canonicalSteps, JsonPieces } from './jsonpieces.ts'

/** The limits were those of the writes. */
const unlimited = { members: Infinity, textLength: Infinity, values: Infinity }

/** What `decodeObject` returns, in steps. */
export function* decodeObjectSteps(bytes: Buffer): Generator<void, KubeObject> {
  return (yield* parseJsonSteps(bytes.toString('utf8'), unlimited)) as KubeObject
}

/** Bytes of objects that `decodeObject` decodes in a few milliseconds, whatever is in them. */
export const decodedAtOnce = 64 * 1024

/** What `canonicalObject` returns, in steps. */
export function* canonicalObjectSteps({
  apiVersion,
  kind,
  metadata,
  ...body
}: KubeObject): Generator<void, KubeObject> {
  const ordered = inOrder((yield* canonicalSteps(metadata)) as Metadata)
  return { apiVersion, kind, metadata: ordered, ...((yield* canonicalSteps(body)) as object) }
}

/** What `encodeObject` returns, in steps. */
export function* encodeObjectSteps(object: KubeObject): Generator<void, Encoded> {
  return yield* encodeCanonicalSteps(yield* canonicalObjectSteps(object))
}

type Members = Readonly<Record<string, unknown>>

/** What `encodeCanonical` returns, in steps. */
export function* encodeCanonicalSteps(object: KubeObject): Generator<void, Encoded> {
  const { apiVersion, kind, metadata, ...body } = object
  const pieces = new JsonPieces()
  pieces.add(`{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":{`)
  const { annotations, labels, resourceVersion, ...others } = metadata
  const first: Members = { annotations, labels, resourceVersion }
  const starts: number[] = []
  const hasRest = Object.values(others).some(value => value !== undefined)
  const present = Object.keys(first).filter(key => !isEmpty(first[key]))
  for (const key of Object.keys(first)) {
    starts.push(pieces.length)
    if (!present.includes(key)) continue
    yield* pieces.members({ [key]: first[key] })
    if (hasRest || key !== present.at(-1)) pieces.add(',')
  }
  const [start = 0, labelsAt = 0, version = 0] = starts
  const rest = pieces.length
  yield* pieces.members(others)
  const end = pieces.length
  const hasBody = Object.values(body).some(value => value !== undefined)
  pieces.add(hasBody ? '},' : '}')
  yield* pieces.members(body)
  pieces.add('}')
  return { bytes: pieces.bytes(), offsets: { metadata: start, labels: labelsAt, version, rest, end } }
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === '') return true
  return typeof value === 'object' && value !== null && keysOf(value).length === 0
}
