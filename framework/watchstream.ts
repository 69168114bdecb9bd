import { internalError, StatusError } from './errors.ts'
import type { ObjectForm } from './forms.ts'
import type { ItemEvent } from './item.ts'
import type { Logger } from './log.ts'
import type { ItemWatch } from './storage.ts'

/** Time between two writes to one watcher while events keep coming, in milliseconds: the cost is the write, not the event. */
const pace = 8

const opening = (type: string): Buffer => Buffer.from(`{"type":"${type}","object":`)
const openings: Readonly<Record<ItemEvent['type'], Buffer>> = {
  ADDED: opening('ADDED'),
  MODIFIED: opening('MODIFIED'),
  DELETED: opening('DELETED'),
  BOOKMARK: opening('BOOKMARK'),
}
const closing = Buffer.from('}\n')

const frame = ({ type, item }: ItemEvent, form: ObjectForm): readonly Buffer[] => [
  openings[type],
  form(item),
  closing,
]

/** Frames of batches that several watchers are handed alike, made once. */
const sharedFrames = new WeakMap<readonly ItemEvent[], Buffer>()

/** Larger batches, such as initial events, are sent in parts: what waits for a slow reader stays small. */
const mostEvents = 256

/** Events as `{"type":…,"object":…}` lines. Batches in the objects' own form are encoded once for all watchers. */
export function encodeEvents(events: readonly ItemEvent[], form: ObjectForm | undefined): Buffer {
  if (form !== undefined) return Buffer.concat(events.flatMap(event => frame(event, form)))
  let bytes = sharedFrames.get(events)
  if (bytes === undefined) {
    bytes = Buffer.concat(events.flatMap(event => frame(event, item => item.bytes)))
    sharedFrames.set(events, bytes)
  }
  return bytes
}

/** What a watch is sent with. */
export interface WatchStream {
  readonly watch: ItemWatch
  /** The first pull, already begun. */
  readonly first: Promise<IteratorResult<readonly ItemEvent[], void>>
  /** How objects are written; absent: as they are. */
  readonly form?: ObjectForm
  /** Ends the watch without an error. */
  readonly signal: AbortSignal
  readonly log: Logger
}

/**
 * The body of a watch: at once when it was idle, then at most every few milliseconds, with all that has come meanwhile.
 * A watch that fails sends one ERROR event and ends (chapter 40, rules 4.45, 4.57).
 */
export async function* watchStream(stream: WatchStream): AsyncGenerator<Buffer, void> {
  const { watch, signal, form } = stream
  try {
    let next = await stream.first
    while (!next.done && !signal.aborted) {
      if (next.value.length > 0) {
        yield* encodeAll(next.value, form)
        await pause(pace)
      }
      next = await watch.next()
    }
  } catch (error) {
    if (!signal.aborted) yield errorFrame(error, stream.log)
  } finally {
    await watch.return()
  }
}

function* encodeAll(events: readonly ItemEvent[], form: ObjectForm | undefined): Generator<Buffer> {
  if (events.length <= mostEvents) {
    yield encodeEvents(events, form)
    return
  }
  for (let at = 0; at < events.length; at += mostEvents) {
    yield encodeEvents(events.slice(at, at + mostEvents), form)
  }
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise(resolve => {
    setTimeout(resolve, milliseconds)
  })

function errorFrame(error: unknown, log: Logger): Buffer {
  if (!(error instanceof StatusError)) log.error({ err: error }, 'watch failed')
  const { status } = error instanceof StatusError ? error : internalError('the watch failed')
  return Buffer.from(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`)
}
