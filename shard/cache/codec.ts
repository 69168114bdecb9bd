import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import {
  atVersion,
  canonicalObject,
  type Encoded,
  encodeCanonical,
  type Offsets,
  withResourceVersion,
} from '../../framework/wire/encode.ts'
import { canonicalObjectSteps, encodeCanonicalSteps } from '../../framework/wire/encodesteps.ts'
import type { StoredValue } from '../store/store.ts'

// A stored value: format byte, four offsets (32 bit, little endian), with format 2 the number of the object's shape, and
// canonical JSON without resourceVersion.
const unshaped = 1
const shaped = 2
const headers: Readonly<Record<number, number>> = { [unshaped]: 17, [shaped]: 21 }
const closingBrace = 0x7d
const before = '"resourceVersion":"'
const behind = '",'

/** An object as it is stored: canonical, and without a resourceVersion, which is the revision of the commit. */
export const storedForm = (object: KubeObject): KubeObject => atVersion(canonicalObject(object), '')

/** The stored bytes of any object. */
export const encodeStored = (object: KubeObject): Buffer => encodeStoredForm(storedForm(object), 0)

/**
 * The bytes of what `storedForm` returns. `shape`: the number of the schema that the object was defaulted and pruned by;
 * 0: any.
 */
export const encodeStoredForm = (object: KubeObject, shape: number): Buffer =>
  storedBytes(encodeCanonical(object), shape)

/** What `storedForm` returns, in steps. */
export function* storedFormSteps(object: KubeObject): Generator<void, KubeObject> {
  return atVersion(yield* canonicalObjectSteps(object), '')
}

/** What `encodeStoredForm` returns, in steps. */
export function* encodeStoredSteps(object: KubeObject, shape: number): Generator<void, Buffer> {
  return storedBytes(yield* encodeCanonicalSteps(object), shape)
}

function storedBytes({ bytes, offsets }: Encoded, shape: number): Buffer {
  const format = shape === 0 ? unshaped : shaped
  const header = headers[format] ?? 0
  const stored = Buffer.allocUnsafe(header + bytes.length)
  stored[0] = format
  stored.writeUInt32LE(offsets.metadata, 1)
  stored.writeUInt32LE(offsets.labels, 5)
  stored.writeUInt32LE(offsets.version, 9)
  stored.writeUInt32LE(offsets.end, 13)
  if (format === shaped) stored.writeInt32LE(shape, 17)
  bytes.copy(stored, header)
  return stored
}

function headerOf(stored: Buffer): number {
  const header = headers[stored[0] ?? 0]
  if (header === undefined) throw new Error(`a stored object has the unknown format ${stored[0]}`)
  return header
}

/** The shape in stored bytes. */
export const shapeIn = (stored: Buffer): number => (stored[0] === shaped ? stored.readInt32LE(17) : 0)

function offsetsIn(stored: Buffer): Offsets {
  const version = stored.readUInt32LE(9)
  return {
    metadata: stored.readUInt32LE(1),
    labels: stored.readUInt32LE(5),
    version,
    rest: version,
    end: stored.readUInt32LE(13),
  }
}

/** The encoded object inside stored bytes, not copied, without a resourceVersion. */
export const decodeStored = (stored: Buffer): Encoded => ({
  bytes: stored.subarray(headerOf(stored)),
  offsets: offsetsIn(stored),
})

/** An encoded object that may be part of a larger slab; its offsets count from its start. */
export interface EncodedSlice extends Encoded {
  readonly start?: number
  readonly length?: number
}

const memberFor = (revision: number): string => `${before}${revision}${behind}`

const presentedLength = (stored: Buffer, revision: number): number =>
  stored.length - headerOf(stored) + memberFor(revision).length

/**
 * Allocates objects in slabs of a fixed size: few allocations, and an object that lives long keeps little more than
 * itself in memory.
 */
export class Arena {
  /** One slab for exactly these objects. */
  static for(values: Iterable<StoredValue>): Arena {
    let size = 0
    for (const { value, modified } of values) size += presentedLength(value, modified)
    return new Arena(size)
  }

  readonly #size: number
  #slab = Buffer.alloc(0)
  #used = 0

  constructor(size: number) {
    this.#size = size
  }

  /** A stored object as it is presented at a revision. */
  present(stored: Buffer, revision: number): EncodedSlice {
    const header = headerOf(stored)
    const offsets = offsetsIn(stored)
    if (stored[header + offsets.rest] === closingBrace) return atRevision(decodeStored(stored), revision)
    const member = memberFor(revision)
    const length = stored.length - header + member.length
    const start = this.#room(length)
    const slab = this.#slab
    stored.copy(slab, start, header, header + offsets.version)
    slab.write(member, start + offsets.version, 'latin1')
    stored.copy(slab, start + offsets.version + member.length, header + offsets.version)
    return { bytes: slab, start, length, offsets: shifted(offsets, member.length) }
  }

  #room(length: number): number {
    if (this.#used + length > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(Math.max(this.#size, length))
      this.#used = 0
    }
    this.#used += length
    return this.#used - length
  }
}

const shifted = (offsets: Offsets, by: number): Offsets => ({
  ...offsets,
  rest: offsets.rest + by,
  end: offsets.end + by,
})

/** The same object at another revision. */
export function atRevision(encoded: Encoded, revision: number): Encoded {
  return withResourceVersion(encoded, String(revision))
}

/** One resource in any version; its objects are stored together. `group` is '' for core. */
export interface StoredResource {
  readonly group: string
  readonly resource: string
  /** The identity hash of a bound resource, `customresources`, or `-` for built-in kinds. */
  readonly segment: string
}

/** The prefix of all keys of objects, and the first key after them. */
export const registryPrefix = '/registry/'
export const registryEnd = '/registry0'

/** `/registry/<cluster>/<group or core>/<resource>/<segment>/<namespace>/<name>`. */
export const storageKey = ({ group, resource, segment }: StoredResource, key: ObjectKey): string =>
  `${registryPrefix}${key.cluster}/${group === '' ? 'core' : group}/${resource}/${segment}/${key.namespace}/${key.name}`

export interface ParsedKey {
  readonly resource: StoredResource
  readonly key: ObjectKey
}

/** Parses a key; undefined for keys that are not of objects. */
export function parseStorageKey(stored: string): ParsedKey | undefined {
  if (!stored.startsWith(registryPrefix)) return undefined
  const parts = stored.slice(registryPrefix.length).split('/')
  const [cluster, group, resource, segment, namespace, name] = parts
  if (parts.length !== 6 || !cluster || !group || !resource || !segment || namespace === undefined || !name)
    return undefined
  return {
    resource: { group: group === 'core' ? '' : group, resource, segment },
    key: { cluster, namespace, name },
  }
}

/** An object of a resource. */
interface Found<R> {
  readonly resource: R
  readonly key: ObjectKey
}

/** A power of two. */
const places = 1024

/**
 * The first of equal texts of keys: a part of a storage key would keep the whole storage key in memory, for each object. Objects of one
 * logical cluster are mostly written together, so that a text needs its place until another one takes it.
 */
export class SharedTexts {
  readonly #known: string[] = new Array(places).fill('')

  inKey({ cluster, namespace, name }: ObjectKey): ObjectKey {
    return { cluster: this.#of(cluster), namespace: this.#of(namespace), name }
  }

  #of(text: string): string {
    const place = placeOf(text)
    const known = this.#known[place]
    if (known === text) return known
    this.#known[place] = text
    return text
  }
}

/** The last characters of generated names are random. */
function placeOf(text: string): number {
  let hash = text.length
  for (let i = Math.max(0, text.length - 4); i < text.length; i++) hash = hash * 31 + text.charCodeAt(i)
  return hash & (places - 1)
}

/**
 * Parses keys in their order, and finds their resources: those of one namespace have the same beginning, which is looked at
 * once, and the same strings.
 */
export class KeyParser<R> {
  readonly #resourceOf: (parsed: ParsedKey) => R
  readonly #texts = new SharedTexts()
  #beginning = ''
  #last: Found<R> | undefined

  constructor(resourceOf: (parsed: ParsedKey) => R) {
    this.#resourceOf = resourceOf
  }

  /** undefined for keys that are not of objects. */
  parse(stored: string): Found<R> | undefined {
    const end = stored.lastIndexOf('/') + 1
    if (this.#last === undefined || end !== this.#beginning.length || !stored.startsWith(this.#beginning))
      return this.#begin(stored, end)
    if (end === stored.length) return undefined
    const { resource, key } = this.#last
    return { resource, key: { ...key, name: stored.slice(end) } }
  }

  #begin(stored: string, end: number): Found<R> | undefined {
    const parsed = parseStorageKey(stored)
    if (parsed === undefined) return undefined
    this.#beginning = stored.slice(0, end)
    this.#last = { resource: this.#resourceOf(parsed), key: this.#texts.inKey(parsed.key) }
    return this.#last
  }
}
