import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import {
  atVersion,
  canonicalObject,
  type Encoded,
  encodeCanonical,
  type Offsets,
  withResourceVersion,
} from '../../framework/wire/encode.ts'
import type { StoredValue } from '../store/store.ts'

// A stored value: format byte, four offsets (32 bit, little endian), with format 2 the number of the object's shape, and
// canonical JSON without resourceVersion.
const unshaped = 1
const shaped = 2
const headers: Readonly<Record<number, number>> = { [unshaped]: 17, [shaped]: 21 }
const closingBrace = 0x7d
const before = '"resourceVersion":"'
const behind = '",'

/** An object as the store keeps it: canonical, and without a resourceVersion, because the commit's revision is it. */
export const storedForm = (object: KubeObject): KubeObject => atVersion(canonicalObject(object), '')

/** The bytes of any object as the store keeps them. */
export const encodeStored = (object: KubeObject): Buffer => encodeStoredForm(storedForm(object), 0)

/** The bytes of what `storedForm` returns. `shape` names the schema that the object has been completed by; 0: it is right
 * under any. */
export function encodeStoredForm(object: KubeObject, shape: number): Buffer {
  const { bytes, offsets } = encodeCanonical(object)
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

/** What `encodeStored` was told. */
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

/** An encoded object that may lie somewhere in a larger slab; its offsets count from where it starts. */
export interface EncodedSlice extends Encoded {
  readonly start?: number
  readonly length?: number
}

const memberFor = (revision: number): string => `${before}${revision}${behind}`

const presentedLength = (stored: Buffer, revision: number): number =>
  stored.length - headerOf(stored) + memberFor(revision).length

/** Makes room for objects in slabs of a fixed size, so that neither each of them costs an allocation nor one that lives
 * long keeps much more than itself in memory. */
export class Arena {
  /** One slab for exactly these, and nothing else. */
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

/** What is stored together: one resource, in any version. `group` is '' for core. */
export interface StoredResource {
  readonly group: string
  readonly resource: string
  /** The identity hash of a bound resource, `customresources`, or `-` for built-in kinds. */
  readonly segment: string
}

/** All keys of objects begin with this. */
export const registryPrefix = '/registry/'

/** `/registry/<cluster>/<group or core>/<resource>/<segment>/<namespace>/<name>`. */
export const storageKey = ({ group, resource, segment }: StoredResource, key: ObjectKey): string =>
  `${registryPrefix}${key.cluster}/${group === '' ? 'core' : group}/${resource}/${segment}/${key.namespace}/${key.name}`

export interface ParsedKey {
  readonly resource: StoredResource
  readonly key: ObjectKey
}

/** The way back; undefined for keys that are not objects'. */
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
