import type { Worker } from 'node:cluster'
import type { StoreAnswered, StoreAsked, StoreLine } from '../../shard/store/relayed/messages.ts'

/** A call of the store that the parent process has opened, and its answer. */
export type StoreSaid = { readonly kind: 'store'; readonly asked: StoreAsked }
export type StoreTold = { readonly kind: 'stored'; readonly answered: StoreAnswered }

/** The end of the line in the process that has opened the store. */
export function lineToWorker(worker: Worker): StoreLine<StoreAnswered, StoreAsked> {
  const ended = new AbortController()
  worker.once('disconnect', () => ended.abort())
  return {
    // A worker may end before the answer is sent.
    send: answered => void worker.send({ kind: 'stored', answered } satisfies StoreTold, ignored),
    receive: handler =>
      void worker.on(
        'message',
        (said: Partial<StoreSaid>) => said.kind === 'store' && handler(said.asked as StoreAsked),
      ),
    closed: ended.signal,
  }
}

/** The end of the line in a worker. */
export function lineToParent(): StoreLine<StoreAsked, StoreAnswered> {
  const ended = new AbortController()
  process.once('disconnect', () => ended.abort())
  return {
    send: asked => void process.send?.({ kind: 'store', asked } satisfies StoreSaid, undefined, {}, ignored),
    receive: handler =>
      void process.on(
        'message',
        (told: Partial<StoreTold>) => told.kind === 'stored' && handler(told.answered as StoreAnswered),
      ),
    closed: ended.signal,
  }
}

const ignored = (): void => undefined
