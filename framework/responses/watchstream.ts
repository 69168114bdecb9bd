import type { ItemEvent } from '../contract/item.ts'
import type { Logger } from '../contract/log.ts'
import type { ItemWatch } from '../contract/storage.ts'
import { internalError, type Status, StatusError } from '../meta/errors.ts'
import { encodeMessage, enveloped } from '../wire/protobuf/encode.ts'
import { messageFields } from '../wire/protobuf/fields.ts'
import { lengthDelimited } from '../wire/protobuf/wire.ts'
import type { ObjectForm } from './forms.ts'

/** Time between two writes to one watcher while events keep coming, in milliseconds: the cost is the write, not the event. */
const pace = 8

/** Frames of batches that several watchers are handed alike, made once. */
const shared = new WeakMap<Framing, WeakMap<readonly ItemEvent[], Buffer>>()

/** Larger batches, such as initial events, are sent in parts: what waits for a slow reader stays small. */
const mostEvents = 256

/** How events are sent. */
export interface Encoding {
  readonly framing: Framing
  /** How objects are written. */
  /** Absent: as they are stored. */
  readonly form?: ObjectForm | undefined
  /** Whether all watchers of a batch are sent the same, so that it is encoded once. */
  readonly isShared: boolean
}

export function encodeEvents(events: readonly ItemEvent[], { framing, form, isShared }: Encoding): Buffer {
  const encode = (): Buffer => Buffer.concat(events.flatMap(event => framing.event(event, form)))
  if (!isShared) return encode()
  const frames = shared.get(framing) ?? new WeakMap<readonly ItemEvent[], Buffer>()
  const bytes = frames.get(events) ?? encode()
  shared.set(framing, frames.set(events, bytes))
  return bytes
}

/** What a watch is sent with. */
export interface WatchStream {
  readonly watch: ItemWatch
  /** The first pull, already begun. */
  readonly first: Promise<IteratorResult<readonly ItemEvent[], void>>
  readonly encoding: Encoding
  /** Ends the watch without an error. */
  readonly signal: AbortSignal
  readonly log: Logger
}

/**
 * The body of a watch: at once when it was idle, then at most every few milliseconds, with all that has come meanwhile.
 * A watch that fails sends one ERROR event and ends (chapter 40, rules 4.45, 4.57).
 */
export async function* watchStream(stream: WatchStream): AsyncGenerator<Buffer, void> {
  const { watch, signal, encoding } = stream
  try {
    let next = await stream.first
    while (!next.done && !signal.aborted) {
      if (next.value.length > 0) {
        yield* encodeAll(next.value, encoding)
        await pause(pace)
      }
      next = await watch.next()
    }
  } catch (error) {
    if (!signal.aborted) yield encoding.framing.error(statusOf(error, stream.log))
  } finally {
    await watch.return()
  }
}

function* encodeAll(events: readonly ItemEvent[], encoding: Encoding): Generator<Buffer> {
  if (events.length <= mostEvents) {
    yield encodeEvents(events, encoding)
    return
  }
  for (let at = 0; at < events.length; at += mostEvents) {
    yield encodeEvents(events.slice(at, at + mostEvents), encoding)
  }
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise(resolve => {
    setTimeout(resolve, milliseconds)
  })

function statusOf(error: unknown, log: Logger): Status {
  if (error instanceof StatusError) return error.status
  log.error({ err: error }, 'watch failed')
  return internalError('the watch failed').status
}

/** How the events of a watch follow each other on the wire. */
export interface Framing {
  readonly contentType: string
  /** One event, in pieces. */
  event(event: ItemEvent, form: ObjectForm | undefined): readonly Buffer[]
  error(status: Status): Buffer
}

const opening = (type: string): Buffer => Buffer.from(`{"type":"${type}","object":`)
const openings: Readonly<Record<ItemEvent['type'], Buffer>> = {
  ADDED: opening('ADDED'),
  MODIFIED: opening('MODIFIED'),
  DELETED: opening('DELETED'),
  BOOKMARK: opening('BOOKMARK'),
}
const closing = Buffer.from('}\n')

/** `{"type":…,"object":…}` lines. */
export const jsonFrames: Framing = {
  contentType: 'application/json',
  event: ({ type, item }, form) => [openings[type], form === undefined ? item.bytes : form(item), closing],
  error: status => Buffer.from(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`),
}

/** Messages, each behind its length in four bytes (chapter 40, rule 11.5). */
export const protobufFrames: Framing = {
  contentType: 'application/vnd.kubernetes.protobuf;stream=watch',
  event: ({ type, item }, form) => frame(type, form === undefined ? item.bytes : form(item)),
  error: status => Buffer.concat(frame('ERROR', encodedStatus(status))),
}

const encodedStatus = (status: Status): Buffer =>
  enveloped(status, encodeMessage(messageFields('Status') ?? new Map(), { ...status }))

function frame(type: string, object: Buffer): readonly Buffer[] {
  const message = [lengthDelimited(1, Buffer.from(type)), lengthDelimited(2, lengthDelimited(1, object))]
  const length = Buffer.alloc(4)
  length.writeUInt32BE(message.reduce((sum, part) => sum + part.length, 0))
  return [length, ...message]
}
