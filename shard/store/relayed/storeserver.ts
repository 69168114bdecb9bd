import type { Store, StoredValue, StoreEvent } from '../store.ts'
import {
  failureFrom,
  type StoreAnswered,
  type StoreAsked,
  type StoreCalls,
  type StoreLine,
  type StoreVerb,
} from './messages.ts'

interface OpenWatch {
  readonly events: AsyncGenerator<readonly StoreEvent[]>
  readonly stop: AbortController
}

type Handlers = {
  readonly [V in StoreVerb]: (asked: StoreCalls[V]['asked']) => Promise<StoreCalls[V]['answer']>
}

/** Answers the calls of another process until the line is closed; its watches end then. */
export function serveStore(store: Store, line: StoreLine<StoreAnswered, StoreAsked>): void {
  const watches = new Map<number, OpenWatch>()
  const handlers = handlersFor(store, watches)
  const answer = async ({ id, verb, asked }: StoreAsked): Promise<Partial<StoreAnswered>> => {
    try {
      return { id, answer: await (handlers[verb] as (asked: unknown) => Promise<unknown>)(asked) }
    } catch (error) {
      return { id, failure: failureFrom(error) }
    }
  }
  line.receive(async asked => {
    const answered = await answer(asked)
    const { revision, compacted } = store
    if (!line.closed.aborted) line.send({ id: asked.id, revision, compacted, ...answered })
  })
  line.closed.addEventListener('abort', () => {
    for (const { stop } of watches.values()) stop.abort()
  })
}

function handlersFor(store: Store, watches: Map<number, OpenWatch>): Handlers {
  return {
    latest: () => store.latest(),
    get: ({ key }) => store.get(key),
    range: ({ from, to, limit, revision }) => pageOf(store.range(from, to, { limit, revision })),
    commit: ({ changes, conditions }) => store.commit(changes, conditions),
    compact: async ({ revision }) => void (await store.compact(revision)),
    async watch({ watch, prefix, after }) {
      const stop = new AbortController()
      watches.set(watch, { events: store.watch(prefix, after, stop.signal), stop })
    },
    async next({ watch }) {
      const { value, done } = (await watches.get(watch)?.events.next()) ?? { done: true }
      return done === true ? undefined : value
    },
    async leave({ watch }) {
      watches.get(watch)?.stop.abort()
      watches.delete(watch)
    },
  }
}

/** The first batch: one message must not be larger. */
async function pageOf(batches: AsyncGenerator<readonly StoredValue[]>): Promise<readonly StoredValue[]> {
  const { value, done } = await batches.next()
  await batches.return(undefined)
  return done === true ? [] : value
}
