import { createHash } from 'node:crypto'
import type { OpenAPIV3 } from 'openapi-types'
import type { Document } from '../../framework/contract/documents.ts'
import type { Steps } from '../../framework/json/json.ts'
import { jsonBytes } from '../../framework/json/jsonbytes.ts'
import { serviceUnavailable } from '../../framework/meta/errors.ts'
import type { Fragment, Fragments } from './fragments.ts'
import type { PathItem } from './paths.ts'
import type { Component, GroupVersionKind } from './schema.ts'

/** The title and version of documents. */
export type DocumentInfo = Readonly<Pick<OpenAPIV3.InfoObject, 'title' | 'version'>>

/** How a document is encoded: its paths and models one by one, and then all of it. */
export interface Format {
  path(name: string, item: PathItem): Steps<Buffer>
  schema(name: string, model: Component): Steps<Buffer>
  /** The pieces of the document, in their order. */
  document(
    info: DocumentInfo,
    paths: readonly Buffer[],
    schemas: readonly Buffer[],
  ): readonly (Buffer | string)[]
}

/** Bytes of a document, at most, and of all that are kept. */
export const largestDocument = 128 * 1024 * 1024

/**
 * Makes and encodes a document one fragment at a time. Only its bytes are kept: the objects of a document have ten times as many.
 * Throws 503 for a document of more than `largest` bytes.
 */
export function* render(
  info: DocumentInfo,
  fragments: Iterable<Fragments>,
  format: Format,
  largest = largestDocument,
): Steps<Document> {
  const encoded = new Encoded(format, largest)
  for (const each of fragments) yield* each(fragment => encoded.add(fragment))
  const bytes = yield* joined(format.document(info, encoded.paths, encoded.schemas()))
  return { bytes, etag: yield* hashOf(bytes) }
}

/** The encoded paths and models of a document. */
class Encoded {
  readonly paths: Buffer[] = []
  readonly #format: Format
  readonly #schemas = new Map<string, Buffer>()
  readonly #kinds = new Map<string, readonly GroupVersionKind[]>()
  /** Bytes that the document may still have. */
  #room: number

  constructor(format: Format, room: number) {
    this.#format = format
    this.#room = room
  }

  *add({ paths, schemas }: Fragment): Steps<void> {
    for (const [path, item] of Object.entries(paths)) {
      this.paths.push(this.#counted(yield* this.#format.path(path, item)))
      yield
    }
    for (const [name, model] of Object.entries(schemas)) {
      const merged = this.#merged(name, model)
      if (merged !== undefined)
        this.#schemas.set(name, this.#counted(yield* this.#format.schema(name, merged)))
    }
  }

  #counted(bytes: Buffer): Buffer {
    this.#room -= bytes.length
    if (this.#room >= 0) return bytes
    throw serviceUnavailable('the OpenAPI document is too large: too many resources, or too large schemas')
  }

  /** In the order of their names. */
  schemas(): readonly Buffer[] {
    return [...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bytes]) => bytes)
  }

  /** A model that is in several fragments has the kinds of all. undefined: it is encoded already. */
  #merged(name: string, model: Component): Component | undefined {
    const key = 'x-kubernetes-group-version-kind'
    const known = this.#kinds.get(name)
    const all = [...(known ?? []), ...(model[key] ?? [])]
    const kinds = [...new Map(all.map(kind => [JSON.stringify(kind), kind])).values()]
    if (known?.length === kinds.length) return undefined
    this.#kinds.set(name, kinds)
    return kinds.length === 0 ? model : { ...model, [key]: kinds }
  }
}

/** A member of a JSON object, without the braces. */
export function* memberOf(name: string, value: unknown): Steps<Buffer> {
  return (yield* jsonBytes({ [name]: value })).subarray(1, -1)
}

/** Members of a JSON object. */
export const members = (all: readonly Buffer[]): readonly (Buffer | string)[] =>
  all.flatMap((member, i) => (i === 0 ? [member] : [',', member]))

/** Bytes that are copied or hashed at once: that takes a few milliseconds at most. */
const bytesAtOnce = 1024 * 1024

function* joined(pieces: readonly (Buffer | string)[]): Steps<Buffer> {
  const lengths = pieces.map(piece => Buffer.byteLength(piece))
  const whole = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length, 0))
  let [at, copied] = [0, 0]
  for (const [i, piece] of pieces.entries()) {
    const length = lengths[i] ?? 0
    if (typeof piece === 'string') whole.write(piece, at)
    else piece.copy(whole, at)
    at += length
    copied += length
    if (copied < bytesAtOnce) continue
    copied = 0
    yield
  }
  return whole
}

function* hashOf(bytes: Buffer): Steps<string> {
  const hash = createHash('sha512')
  for (let at = 0; at < bytes.length; at += bytesAtOnce) {
    hash.update(bytes.subarray(at, at + bytesAtOnce))
    yield
  }
  return hash.digest('hex').toUpperCase()
}
