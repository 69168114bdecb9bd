import { type Awaitable, inTurns, Pace } from '../async/awaitable.ts'
import { type ItemEvent, lengthOf } from '../contract/item.ts'
import type { Logger } from '../contract/log.ts'
import type { ItemWatch } from '../contract/storage.ts'
import { internalError, type Status, StatusError } from '../meta/errors.ts'
import { encodeMessage, enveloped } from '../wire/protobuf/encode.ts'
import { messageFields, protobufType } from '../wire/protobuf/fields.ts'
import { lengthDelimited } from '../wire/protobuf/wire.ts'
import { type ObjectForm, writeInSteps } from './forms.ts'

/** The shortest time between two writes to one watcher, in milliseconds: events between them are sent in one write. */
const pace = 8

/** The frames of batches that several watchers share. */
const shared = new WeakMap<Framing, WeakMap<readonly ItemEvent[], Awaitable<Buffer>>>()

/** Larger batches, such as initial events, are sent in parts, to limit the memory for slow clients. */
const mostEvents = 256
const mostBytes = 1024 * 1024

/** How events are sent. */
export interface Encoding {
  readonly framing: Framing
  /** How objects are written; absent: as stored. */
  readonly form?: ObjectForm | undefined
  /** Whether all watchers of a batch get the same bytes, so that it is encoded once. */
  readonly isShared: boolean
}

/** The frames of a batch; those of large objects in another form are made between the turns of other requests. */
export function encodeEvents(events: readonly ItemEvent[], encoding: Encoding): Awaitable<Buffer> {
  const { framing, isShared } = encoding
  if (!isShared) return framesOf(events, encoding)
  const frames = shared.get(framing) ?? new WeakMap<readonly ItemEvent[], Awaitable<Buffer>>()
  const bytes = frames.get(events) ?? framesOf(events, encoding)
  shared.set(framing, frames.set(events, bytes))
  return bytes
}

function framesOf(events: readonly ItemEvent[], encoding: Encoding): Awaitable<Buffer> {
  const { framing, form } = encoding
  if (form !== undefined && isLarge(events)) return inTurns(frameSteps(events, framing, form), new Pace())
  return Buffer.concat(
    events.flatMap(({ type, item }) => framing.frame(type, form === undefined ? item.bytes : form(item))),
  )
}

/** Bytes of events that take a few milliseconds to convert. */
const large = 64 * 1024

const isLarge = (events: readonly ItemEvent[]): boolean =>
  events.reduce((sum, { item }) => sum + lengthOf(item), 0) > large

function* frameSteps(
  events: readonly ItemEvent[],
  framing: Framing,
  form: ObjectForm,
): Generator<void, Buffer> {
  const frames: Buffer[] = []
  for (const { type, item } of events) {
    frames.push(...framing.frame(type, yield* writeInSteps(form, item)))
    yield
  }
  return Buffer.concat(frames)
}

/** The parts of a watch response. */
export interface WatchStream {
  readonly watch: ItemWatch
  /** The first batch. */
  readonly first: Promise<IteratorResult<readonly ItemEvent[], void>>
  readonly encoding: Encoding
  /** Ends the watch without an error. */
  readonly signal: AbortSignal
  readonly log: Logger
}

/**
 * The body of a watch response. An event after a pause is sent immediately, later ones together after a few
 * milliseconds. A watch that fails sends one ERROR event and ends (rules.md 4.45, 4.57).
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

function* encodeAll(events: readonly ItemEvent[], encoding: Encoding): Generator<Awaitable<Buffer>> {
  if (events.length === 1) yield encodeEvents(events, encoding)
  else for (const part of partsOf(events)) yield encodeEvents(part, encoding)
}

/** The events in parts of limited length. A batch that is short enough is its only part: watchers share its frames. */
function* partsOf(events: readonly ItemEvent[]): Generator<readonly ItemEvent[]> {
  let [from, bytes] = [0, 0]
  for (const [at, { item }] of events.entries()) {
    const length = lengthOf(item)
    if (at > from && (at - from === mostEvents || bytes + length > mostBytes)) {
      yield events.slice(from, at)
      ;[from, bytes] = [at, 0]
    }
    bytes += length
  }
  yield from === 0 ? events : events.slice(from)
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

/** The framing of watch events. */
export interface Framing {
  readonly contentType: string
  /** The pieces of one event with an encoded object. */
  frame(type: ItemEvent['type'], object: Buffer): readonly Buffer[]
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
  frame: (type, object) => [openings[type], object, closing],
  error: status => Buffer.from(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`),
}

/** Messages, each after its length in four bytes (rules.md 11.5). */
export const protobufFrames: Framing = {
  contentType: `${protobufType};stream=watch`,
  frame,
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
