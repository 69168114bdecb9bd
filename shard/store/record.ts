import type { Commit } from './medium.ts'
import type { StoredValue, StoreEvent } from './store.ts'

// A current value: created and modified as doubles, then the bytes.
const valueHeader = 16

export function encodeValue({ value, created, modified }: StoredValue): Buffer {
  const bytes = Buffer.allocUnsafe(valueHeader + value.length)
  bytes.writeDoubleLE(created, 0)
  bytes.writeDoubleLE(modified, 8)
  value.copy(bytes, valueHeader)
  return bytes
}

export function decodeValue(key: string, bytes: Buffer): StoredValue {
  const [created, modified] = [bytes.readDoubleLE(0), bytes.readDoubleLE(8)]
  if (!(created > 0 && modified > 0)) throw new Error(`${key} has no revision`)
  return { key, value: bytes.subarray(valueHeader), created, modified }
}

/** Length (32 bit; all ones: absent) and bytes of everything, one after the other. */
const absent = 0xffffffff

function blob(bytes: Buffer | undefined): readonly Buffer[] {
  const length = Buffer.allocUnsafe(4)
  length.writeUInt32LE(bytes?.length ?? absent)
  return bytes === undefined ? [length] : [length, bytes]
}

/** A commit for the log, without its revision: time as a double, then key, value and previous value of each event. */
export function encodeCommit({ time, events }: Commit): Buffer {
  const head = Buffer.allocUnsafe(8)
  head.writeDoubleLE(time)
  const parts = events.flatMap(({ key, value, previous }) => [
    ...blob(Buffer.from(key)),
    ...blob(value === undefined ? undefined : encodeValue(value)),
    ...blob(previous === undefined ? undefined : encodeValue(previous)),
  ])
  return Buffer.concat([head, ...parts])
}

export function decodeCommit(revision: number, bytes: Buffer): Commit {
  const events: StoreEvent[] = []
  let at = 8
  const next = (): Buffer | undefined => {
    const length = bytes.readUInt32LE(at)
    at += 4
    if (length === absent) return undefined
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const key = next()?.toString() ?? ''
    const [value, previous] = [next(), next()]
    events.push({
      revision,
      key,
      ...(value === undefined ? {} : { value: decodeValue(key, value) }),
      ...(previous === undefined ? {} : { previous: decodeValue(key, previous) }),
    })
  }
  return { revision, time: bytes.readDoubleLE(0), events }
}
