import { Pace } from '../../framework/async/awaitable.ts'
import { pauseAfter } from '../../framework/async/backoff.ts'
import { slice } from '../../framework/async/turn.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { KeysInTurn } from './keysinturn.ts'

/**
 * A work queue of keys: a key is processed by one worker at a time; adding it meanwhile processes it once more
 * (client-go `util/workqueue`). Logical clusters have their turns.
 */
export interface Queue {
  add(key: string): void
  /** Adds the key after a delay; the earliest of several delays is used. */
  addAfter(key: string, milliseconds: number): void
  /** Processes keys until `signal` aborts; resolves when the running reconciles have ended. */
  run(signal: AbortSignal): Promise<void>
  /** Resolves when nothing is queued, running or waiting for a retry. */
  idle(): Promise<void>
}

interface QueueOptions {
  readonly name: string
  readonly log: Logger
  /** Reconciles the object of this key. Errors are retried. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<void>
  /** Concurrent reconciles; default 64: they mostly wait for the store, which combines their commits. */
  readonly concurrency?: number
}

const defaultConcurrency = 64

/** Milliseconds. */
const longestTimer = 2 ** 31 - 1
const pauses = { first: 5, longest: 60_000 }

interface State {
  readonly ready: KeysInTurn
  readonly running: Set<string>
  /** Keys added while they ran. */
  readonly again: Set<string>
  readonly failures: Map<string, number>
  readonly delays: Delays
  wake: () => void
  settled: (() => void)[]
}

/** A work queue with unique keys, exponential retries, and one timer for all delays. */
export function createQueue(options: QueueOptions): Queue {
  const state: State = {
    ready: new KeysInTurn(),
    running: new Set(),
    again: new Set(),
    failures: new Map(),
    delays: createDelays(),
    wake: () => undefined,
    settled: [],
  }
  const add = (key: string): void => {
    if (state.running.has(key)) state.again.add(key)
    else state.ready.add(key)
    state.wake()
  }
  const addAfter = (key: string, milliseconds: number): void => {
    if (milliseconds > 0) state.delays.set(key, performance.now() + milliseconds)
    else add(key)
    state.wake()
  }
  return {
    add,
    addAfter,
    run: signal => runQueue(state, options, { add, addAfter }, signal),
    idle: () =>
      isIdle(state) ? Promise.resolve() : new Promise(resolve => void state.settled.push(resolve)),
  }
}

/** Delayed keys do not count as work. */
const isIdle = (state: State): boolean =>
  state.ready.size === 0 && state.running.size === 0 && state.failures.size === 0

type Adder = Pick<Queue, 'add' | 'addAfter'>

async function runQueue(
  state: State,
  options: QueueOptions,
  queue: Adder,
  signal: AbortSignal,
): Promise<void> {
  const limit = options.concurrency ?? defaultConcurrency
  const jobs = new Set<Promise<void>>()
  signal.addEventListener('abort', () => state.wake(), { once: true })
  const start = (key: string): void => {
    state.running.add(key)
    const job = work(state, options, queue, { key, signal }).finally(() => jobs.delete(job))
    jobs.add(job)
  }
  let pace = new Pace()
  while (!signal.aborted) {
    for (const key of state.delays.take(performance.now())) queue.add(key)
    await startAll(state, limit, { start, pace, signal })
    const before = performance.now()
    await nextWake(state, limit, signal)
    // A shorter wait may have been within one turn of the event loop: reconciles that wait for nothing end in it.
    if (performance.now() - before > slice) pace = new Pace()
  }
  await Promise.all(jobs)
}

interface Starting {
  readonly start: (key: string) => void
  readonly pace: Pace
  readonly signal: AbortSignal
}

/** Starts what may run; requests have their turns in between. */
async function startAll(state: State, limit: number, { start, pace, signal }: Starting): Promise<void> {
  while (!signal.aborted) {
    const key = state.ready.take(limit - state.running.size)
    if (key === undefined) return
    start(key)
    const wait = pace.due()
    if (wait !== undefined) await wait
  }
}

async function work(
  state: State,
  options: QueueOptions,
  queue: Adder,
  job: { key: string; signal: AbortSignal },
): Promise<void> {
  const { key, signal } = job
  try {
    await options.reconcile(key, signal)
    state.failures.delete(key)
  } catch (error) {
    retryLater(state, options, queue, { key, error, stopping: signal.aborted })
  }
  state.running.delete(key)
  state.ready.done(key)
  if (state.again.delete(key)) queue.add(key)
  state.wake()
  if (isIdle(state)) for (const resolve of state.settled.splice(0)) resolve()
}

function retryLater(
  state: State,
  options: QueueOptions,
  queue: Adder,
  failed: { key: string; error: unknown; stopping: boolean },
): void {
  if (failed.stopping) return
  const failures = (state.failures.get(failed.key) ?? 0) + 1
  state.failures.set(failed.key, failures)
  options.log.debug(
    { queue: options.name, key: failed.key, failures, error: String(failed.error) },
    'will retry',
  )
  queue.addAfter(failed.key, pauseAfter(failures, pauses))
}

/**
 * Waits until a key is added, a delay is over, or the queue stops. Returns at once while a key can be processed.
 */
async function nextWake(state: State, limit: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || state.ready.hasNext(limit - state.running.size)) return
  const { next } = state.delays
  let timer: NodeJS.Timeout | undefined
  await new Promise<void>(resolve => {
    state.wake = resolve
    if (next === undefined) return
    const left = Math.max(0, next - performance.now())
    timer = setTimeout(resolve, Math.min(left, longestTimer))
  })
  clearTimeout(timer)
  state.wake = () => undefined
}

interface Entry {
  readonly at: number
  readonly key: string
}

/** Delays by key: a binary heap, in which entries with a later time than that of their key are skipped. */
interface Delays {
  /** `at`: milliseconds of any one clock; the earliest time of a key is used. */
  set(key: string, at: number): void
  /** The earliest time. */
  readonly next: number | undefined
  /** Removes and returns the keys that are due. */
  take(now: number): readonly string[]
}

export function createDelays(): Delays {
  const heap: Entry[] = []
  const dueTimes = new Map<string, number>()
  const dropStale = (): void => {
    for (let top = heap[0]; top && dueTimes.get(top.key) !== top.at; top = heap[0]) pop(heap)
  }
  return {
    set(key, at) {
      const known = dueTimes.get(key)
      if (known !== undefined && known <= at) return
      dueTimes.set(key, at)
      push(heap, { at, key })
    },
    get next() {
      dropStale()
      return heap[0]?.at
    },
    take(now) {
      const keys: string[] = []
      for (dropStale(); heap[0] && heap[0].at <= now; dropStale()) {
        const { key } = heap[0]
        dueTimes.delete(key)
        keys.push(key)
      }
      return keys
    },
  }
}

function push(heap: Entry[], entry: Entry): void {
  let child = heap.length
  for (; child > 0; ) {
    const parent = (child - 1) >> 1
    const above = heap[parent]
    if (above === undefined || above.at <= entry.at) break
    heap[child] = above
    child = parent
  }
  heap[child] = entry
}

function pop(heap: Entry[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let parent = 0
  for (;;) {
    const child = smallerChild(heap, parent)
    const below = heap[child]
    if (below === undefined || below.at >= last.at) break
    heap[parent] = below
    parent = child
  }
  heap[parent] = last
}

function smallerChild(heap: readonly Entry[], parent: number): number {
  const left = 2 * parent + 1
  const [a, b] = [heap[left], heap[left + 1]]
  return a !== undefined && b !== undefined && b.at < a.at ? left + 1 : left
}
