import { setTimeout as sleep } from 'node:timers/promises'
import { Backoff } from '../async/backoff.ts'
import type { Logger } from '../contract/log.ts'
import type { AuditSink } from './auditor.ts'
import type { AuditEvent } from './event.ts'

export interface BatchOptions {
  /** Sends events in order. Rejects if the caller may try again. */
  readonly send: (events: readonly AuditEvent[]) => Promise<void>
  readonly log: Logger
  /** Maximum number of waiting events; others are dropped, and their number is logged. */
  readonly buffer: number
  /** Number of events of one batch. */
  readonly batch: number
  /** Milliseconds that an event waits for a full batch. */
  readonly wait: number
  /** Milliseconds before the second of `attempts`; each next pause is half as long again. */
  readonly backoff: number
  readonly attempts: number
}

/** The defaults of Kubernetes for audit webhooks. */
export const batchDefaults = {
  buffer: 10_000,
  batch: 400,
  wait: 30_000,
  backoff: 10_000,
  attempts: 5,
} as const

/** Sends events in batches, one batch at a time: a slow receiver loses events and does not delay requests. */
export function batchSink(options: BatchOptions): AuditSink {
  const waiting: AuditEvent[] = []
  const closing = new AbortController()
  const state: State = { waiting, dropped: 0, wake: () => undefined }
  const finished = run(state, options, closing.signal)
  return {
    write(event) {
      if (waiting.length >= options.buffer) state.dropped++
      else waiting.push(event)
      if (waiting.length >= options.batch) state.wake()
    },
    close() {
      closing.abort()
      return finished
    },
  }
}

interface State {
  readonly waiting: AuditEvent[]
  dropped: number
  wake: () => void
}

async function run(state: State, options: BatchOptions, closing: AbortSignal): Promise<void> {
  while (!closing.aborted) {
    await enough(state, options, closing)
    await sendNext(state, options, closing)
  }
  while (state.waiting.length > 0) await sendNext(state, options, closing)
}

/** Waits for a full batch, or for the end of the time. */
async function enough(state: State, { batch, wait }: BatchOptions, closing: AbortSignal): Promise<void> {
  if (state.waiting.length >= batch) return
  const full = new AbortController()
  state.wake = () => full.abort()
  await sleep(wait, undefined, { signal: AbortSignal.any([full.signal, closing]), ref: false }).catch(
    () => undefined,
  )
  state.wake = () => undefined
}

async function sendNext(state: State, options: BatchOptions, closing: AbortSignal): Promise<void> {
  const events = state.waiting.splice(0, options.batch)
  if (events.length > 0) await sendOrGiveUp(events, options, closing)
  if (state.dropped > 0) options.log.error({ events: state.dropped }, 'audit buffer full, events dropped')
  state.dropped = 0
}

/** One attempt after `close`: a receiver that is not reachable must not delay the end of the process. */
async function sendOrGiveUp(
  events: readonly AuditEvent[],
  { send, log, backoff, attempts }: BatchOptions,
  closing: AbortSignal,
): Promise<void> {
  const pauses = new Backoff({ first: backoff, longest: Number.POSITIVE_INFINITY, factor: 1.5 })
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(events)
    } catch (error) {
      if (attempt >= attempts || closing.aborted)
        return log.error({ events: events.length, error: String(error) }, 'sending audit events failed')
      await pauses.pause(closing)
    }
  }
}
