import { crc32 } from 'node:zlib'
import type { StoredValue } from '../store.ts'
import type { KeyValue } from './messages.ts'

/**
 * The keys of an installation: `<prefix>/objects<key>` for the store's keys, and a few records. Values of the store's
 * keys end with the CRC-32 of key and bytes.
 */
export interface Layout {
  readonly prefix: string
  /** `[from, to)` of all keys of the installation. */
  readonly all: readonly [from: Buffer, to: Buffer]
  /** `[from, to)` of the store's keys. */
  readonly objects: readonly [from: Buffer, to: Buffer]
  /** `[from, to)` of the head, the installation and the store's keys. */
  readonly history: readonly [from: Buffer, to: Buffer]
  /** Written by every commit: its revision is that of the newest commit, and its value identifies it. */
  readonly head: Buffer
  /** Written before a write is repeated. */
  readonly fence: Buffer
  /** Format, identity and epoch of the installation. */
  readonly installation: Buffer
  /** The key in etcd of a store's key. */
  keyOf(key: string): Buffer
  textOf(key: Buffer): string
}

/** The first key after all keys with a prefix. */
function endOf(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix)
  end[end.length - 1] = (end.at(-1) ?? 0) + 1
  return end
}

/** `prefix` begins with a slash and does not end with one. */
export function layoutOf(prefix: string): Layout {
  const head = Buffer.from(`${prefix}/head`)
  const objects = Buffer.from(`${prefix}/objects`)
  const all = Buffer.from(`${prefix}/`)
  return {
    prefix,
    all: [all, endOf(all)],
    objects: [objects, endOf(objects)],
    history: [head, endOf(objects)],
    head,
    fence: Buffer.from(`${prefix}/fence`),
    installation: Buffer.from(`${prefix}/installation`),
    keyOf: key => Buffer.concat([objects, Buffer.from(key)]),
    textOf: key => key.toString('utf8', objects.length),
  }
}

const checksum = 4

const sumOf = (key: Buffer, value: Buffer): number => crc32(value, crc32(key))

/** The value of a store's key as it is written to etcd. */
export function withChecksum(key: Buffer, value: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(value.length + checksum)
  value.copy(bytes)
  bytes.writeUInt32LE(sumOf(key, value), value.length)
  return bytes
}

/** Never throws: a value with a wrong checksum is marked as damaged. `offset` is added to the revisions of etcd. */
export function storedValue(layout: Layout, found: KeyValue, offset: number): StoredValue {
  const end = Math.max(0, found.value.length - checksum)
  const value = found.value.subarray(0, end)
  const decoded = {
    key: layout.textOf(found.key),
    value,
    created: found.created + offset,
    modified: found.modified + offset,
  }
  const isIntact = found.value.length >= checksum && found.value.readUInt32LE(end) === sumOf(found.key, value)
  return isIntact ? decoded : { ...decoded, damaged: true }
}
