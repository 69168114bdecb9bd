import {
  CommitTooLarge,
  Compacted,
  type StoreChange,
  type StoreCondition,
  StoreConflict,
  type StoredValue,
  StoreError,
  type StoreEvent,
} from '../store.ts'

/** A line between two processes: messages arrive in order, or the line is closed. Buffers arrive as Buffers. */
export interface StoreLine<Sent, Received> {
  send(message: Sent): void
  receive(handler: (message: Received) => void): void
  /** Aborts when the other process has ended. */
  readonly closed: AbortSignal
}

/** What a store is asked, with the results. A watch is read batch by batch; `undefined` is its end. */
export interface StoreCalls {
  latest: { readonly asked: object; readonly answer: number }
  get: { readonly asked: { readonly key: string }; readonly answer: StoredValue | undefined }
  range: { readonly asked: RangePage; readonly answer: readonly StoredValue[] }
  commit: { readonly asked: Commit; readonly answer: number }
  compact: { readonly asked: { readonly revision: number }; readonly answer: undefined }
  watch: { readonly asked: WatchBegin; readonly answer: undefined }
  next: {
    readonly asked: { readonly watch: number }
    readonly answer: readonly StoreEvent[] | undefined
  }
  leave: { readonly asked: { readonly watch: number }; readonly answer: undefined }
}

interface Commit {
  readonly changes: readonly StoreChange[]
  readonly conditions: readonly StoreCondition[]
}

interface RangePage {
  readonly from: string
  readonly to: string
  readonly limit: number
  readonly revision: number
}

interface WatchBegin {
  /** The number of the watch, by which the process that asks knows it. */
  readonly watch: number
  readonly prefix: string
  readonly after: number
}

export type StoreVerb = keyof StoreCalls

/** One call; `id` is that of its answer. */
export interface StoreAsked<V extends StoreVerb = StoreVerb> {
  readonly id: number
  readonly verb: V
  readonly asked: StoreCalls[V]['asked']
}

/** The answer to a call, and the state of the store when it was given. */
export interface StoreAnswered {
  readonly id: number
  readonly revision: number
  readonly compacted: number
  readonly answer?: unknown
  readonly failure?: StoreFailure
}

/** An error of a store; its class does not survive a message. */
export interface StoreFailure {
  readonly kind: 'conflict' | 'compacted' | 'tooLarge' | 'store' | 'other'
  readonly message: string
  readonly key?: string
  readonly oldest?: number
}

export function failureFrom(error: unknown): StoreFailure {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof StoreConflict) return { kind: 'conflict', message, key: error.key }
  if (error instanceof Compacted) return { kind: 'compacted', message, oldest: error.oldest }
  if (error instanceof CommitTooLarge) return { kind: 'tooLarge', message }
  return { kind: error instanceof StoreError ? 'store' : 'other', message }
}

export function errorFrom({ kind, message, key = '', oldest = 0 }: StoreFailure): Error {
  if (kind === 'conflict') return new StoreConflict(key)
  if (kind === 'compacted') return new Compacted(oldest)
  if (kind === 'tooLarge') return new CommitTooLarge(message)
  return kind === 'store' ? new StoreError(message) : new Error(message)
}
