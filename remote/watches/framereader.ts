import type { EventType, ItemEvent } from '../../framework/contract/item.ts'
import { expired, type Status, StatusError } from '../../framework/meta/errors.ts'
import type { ClusterScope } from '../../framework/meta/object.ts'
import { sentItem } from '../reading/item.ts'
import { memberRange } from '../reading/scanner.ts'
import { mostOfElement, Unfinished } from '../reading/unfinished.ts'

const newline = 0x0a
const none = Buffer.alloc(0)

/** Parses a watch as it arrives: one line is one event. Objects are not decoded. */
export class FrameReader {
  readonly #cluster: ClusterScope
  readonly #rest = new Unfinished('an event', mostOfElement)

  constructor(cluster: ClusterScope) {
    this.#cluster = cluster
  }

  /** The events that are complete with this piece, up to the first error event. Throws `ResponseTooLarge`. */
  push(piece: Buffer): FrameBatch {
    const end = piece.lastIndexOf(newline)
    if (end < 0) {
      this.#rest.push(piece)
      return { events: [] }
    }
    const lines = this.#rest.take(piece.subarray(0, end + 1))
    this.#rest.push(piece.subarray(end + 1))
    return eventsIn(lines, this.#cluster)
  }
}

export interface FrameBatch {
  readonly events: readonly ItemEvent[]
  /** The error event that ended the watch. */
  readonly error?: StatusError
}

function eventsIn(lines: Buffer, cluster: ClusterScope): FrameBatch {
  const events: ItemEvent[] = []
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf(newline, at)
    const line = lines.subarray(at, end)
    at = end + 1
    if (line.length === 0) continue
    const { type, object } = frameOf(line)
    if (type === 'ERROR') return { events, error: errorOf(object) }
    events.push({ type: type as EventType, item: sentItem(object, cluster) })
  }
  return { events }
}

/** Uses a regular expression for the order of members that shards write, and a scan for any other. */
function frameOf(line: Buffer): { readonly type: string; readonly object: Buffer } {
  const head = /^\{"type":"([A-Z]+)","object":/.exec(line.toString('latin1', 0, 64))
  if (head !== null)
    return { type: head[1] ?? '', object: line.subarray(head[0].length, line.lastIndexOf('}')) }
  const range = memberRange(line, 'object')
  const type = memberRange(line, 'type')
  return {
    type: type === undefined ? '' : String(JSON.parse(line.toString('utf8', type.from, type.to))),
    object: range === undefined ? none : line.subarray(range.from, range.to),
  }
}

function errorOf(object: Buffer): StatusError {
  const status = JSON.parse(object.toString()) as Partial<Status>
  const { code = 500, reason = '', message = 'the watch failed', details } = status
  return code === 410 ? expired(message) : new StatusError(code, reason, message, details)
}
