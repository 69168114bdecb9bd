import { bodyOf, optional, soon } from '../async/awaitable.ts'
import type { RequestContext } from '../contract/context.ts'
import { StatusError } from '../meta/errors.ts'
import { watchQuery } from '../query/selection.ts'
import type { Answer } from '../request/response.ts'
import { eventForm, inProtobuf } from '../responses/forms.ts'
import { negotiate } from '../responses/negotiation.ts'
import { jsonFrames, protobufFrames, watchStream } from '../responses/watchstream.ts'
import { type Call, checkScope } from './call.ts'

const longestTimer = 2 ** 31 - 1

/** Answers at once and then sends events until the deadline. */
export async function watch(call: Call): Promise<Answer> {
  const { ctx, served, request } = call
  checkScope(call)
  const how = negotiate(request, 'watch', inProtobuf(served))
  const form = eventForm(served, how, request.query)
  const { selection, ...options } = watchQuery(call)
  const milliseconds = lifetimeOf(options.timeoutSeconds)
  const { signal, release } = until(ctx.signal, milliseconds)
  const begun: Promise<void>[] = []
  const asking = (beginning: Promise<void>): void => void begun.push(beginning)
  const query = { ...selection, ...options.watch, deadline: Date.now() + milliseconds, asking }
  const limited: RequestContext = { ...ctx, signal }
  const framing = how.format === 'protobuf' ? protobufFrames : jsonFrames
  const encoding = { framing, form, isShared: how.transform === undefined }
  try {
    const events = served.storage.watch(limited, query)
    const first = optional(events.next())
    await refuseEarly(first, begun)
    const stream = watchStream({ watch: events, first, signal, log: ctx.record.log, encoding })
    return { status: 200, contentType: framing.contentType, body: bodyOf(stream, release), flush: true }
  } catch (error) {
    release()
    throw error
  }
}

/**
 * Without a timeout: at random between 30 and 60 minutes, so that watches do not all end together (rules.md 1.41).
 */
const lifetimeOf = (timeoutSeconds: number): number =>
  timeoutSeconds > 0 ? Math.min(timeoutSeconds * 1000, longestTimer) : 1_800_000 * (1 + Math.random())

/**
 * A failure before the first event, or before a remote shard has responded, is an error response, except for an expired
 * resourceVersion: informers expect it in the stream (rules.md 4.45).
 */
async function refuseEarly(first: Promise<unknown>, begun: readonly Promise<void>[]): Promise<void> {
  try {
    await soon(first)
    if (begun.length > 0) await Promise.race([first, ...begun])
  } catch (error) {
    if (!(error instanceof StatusError && error.code === 410)) throw error
  }
}

/** A signal that aborts with another one, after some time, or when released. Lighter than AbortSignal.any. */
function until(signal: AbortSignal, milliseconds: number): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal.reason)
  const timer = setTimeout(abort, milliseconds)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  const release = (): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    abort()
  }
  return { signal: controller.signal, release }
}
