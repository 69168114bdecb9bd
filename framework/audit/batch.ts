import { setTimeout as sleep } from 'node:timers/promises'
import { unlessAborted } from '../async/awaitable.ts'
import { Backoff } from '../async/backoff.ts'
import type { Logger } from '../contract/log.ts'
import type { AuditSink } from './auditor.ts'
import type { AuditMeters } from './meters.ts'
import type { AuditRecord, JsonLine } from './record.ts'
import { WaitingEvents } from './waiting.ts'

export interface BatchOptions {
  /** Sends events in order, each as JSON. Rejects if the caller may try again, and when the signal aborts. */
  readonly send: (events: readonly JsonLine[], signal: AbortSignal) => Promise<void>
  readonly log: Logger
  readonly meters: AuditMeters
  /** Maximum number of waiting events; others are dropped, counted and logged. */
  readonly buffer: number
  /** Maximum bytes of waiting events. */
  readonly bytes: number
  /** Number of events of one batch. */
  readonly batch: number
  /** Bytes of the events of one batch, if there are several. */
  readonly batchBytes: number
  /** Milliseconds that an event waits for a full batch. */
  readonly wait: number
  /** Milliseconds before the second of `attempts`; each next pause is half as long again. */
  readonly backoff: number
  readonly attempts: number
  /** Milliseconds after `close` in which events are still sent. */
  readonly grace: number
}

/** The defaults of Kubernetes for audit webhooks, which has no limit of bytes. */
export const batchDefaults = {
  buffer: 10_000,
  bytes: 64 * 1024 * 1024,
  batch: 400,
  batchBytes: 10 * 1024 * 1024,
  wait: 30_000,
  backoff: 10_000,
  attempts: 5,
  grace: 5000,
} as const

/** Sends events in batches, one batch at a time: a slow receiver loses events and does not delay requests. */
export function batchSink(options: BatchOptions): AuditSink {
  const waiting = new WaitingEvents({ ...options, plugin: 'buffered' })
  const batches = new Batches(waiting, options)
  const ends: Ends = { closing: new AbortController(), ended: new AbortController() }
  const finished = run(batches, options, ends)
  return {
    write: record => batches.add(record),
    async close() {
      ends.closing.abort()
      const late = setTimeout(() => ends.ended.abort(new Error('no answer in time')), options.grace)
      await finished
      clearTimeout(late)
    },
  }
}

interface Ends {
  /** The process ends: events are sent without waiting for others, once. */
  readonly closing: AbortController
  /** No event is sent any more. */
  readonly ended: AbortController
}

class Batches {
  readonly waiting: WaitingEvents
  readonly #options: BatchOptions
  #wake: () => void = () => undefined

  constructor(waiting: WaitingEvents, options: BatchOptions) {
    this.waiting = waiting
    this.#options = options
  }

  get #isFull(): boolean {
    return this.waiting.count >= this.#options.batch || this.waiting.bytes >= this.#options.batchBytes
  }

  add(record: AuditRecord): void {
    this.waiting.add(record)
    if (this.#isFull) this.#wake()
  }

  /** Waits for a full batch, or for the end of the time. */
  async enough(closing: AbortSignal): Promise<void> {
    if (this.#isFull) return
    const full = new AbortController()
    this.#wake = () => full.abort()
    const signal = AbortSignal.any([full.signal, closing])
    await sleep(this.#options.wait, undefined, { signal, ref: false }).catch(() => undefined)
    this.#wake = () => undefined
  }

  take(): readonly JsonLine[] {
    const { batch, batchBytes } = this.#options
    const events = this.waiting.first({ events: batch, bytes: batchBytes })
    this.waiting.remove(events.length)
    return events
  }
}

async function run(batches: Batches, options: BatchOptions, ends: Ends): Promise<void> {
  const { signal } = ends.closing
  while (!signal.aborted) {
    await batches.enough(signal)
    await sendNext(batches, options, ends)
  }
  while (batches.waiting.count > 0) await sendNext(batches, options, ends)
}

async function sendNext(batches: Batches, options: BatchOptions, ends: Ends): Promise<void> {
  const events = batches.take()
  if (events.length > 0) await sendOrGiveUp(events, options, ends)
  batches.waiting.report()
}

/** One attempt after `close`: a receiver that is not reachable must not delay the end of the process. */
async function sendOrGiveUp(
  events: readonly JsonLine[],
  { send, log, meters, backoff, attempts }: BatchOptions,
  { closing, ended }: Ends,
): Promise<void> {
  const pauses = new Backoff({ first: backoff, longest: Number.POSITIVE_INFINITY, factor: 1.5 })
  for (let attempt = 1; ; attempt++) {
    try {
      ended.signal.throwIfAborted()
      return await unlessAborted(ended.signal, send(events, ended.signal))
    } catch (error) {
      if (attempt >= attempts || closing.signal.aborted) {
        meters.lost('webhook', events.length)
        return log.error({ events: events.length, error: String(error) }, 'sending audit events failed')
      }
      await pauses.pause(closing.signal)
    }
  }
}
