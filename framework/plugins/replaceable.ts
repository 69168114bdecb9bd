import { aborted } from '../async/awaitable.ts'
import type { VirtualWorkspace } from '../contract/workspace.ts'

/** A view and the controller that ends it, when another one replaces it. */
export interface Generation {
  readonly view: VirtualWorkspace
  readonly end: AbortController
}

/** A view that can be replaced while it is served. */
export interface ReplaceableView {
  readonly view: VirtualWorkspace
  /**
   * Starts the next view. Resolves when it is ready, with the function by which it replaces the last one, which ends then. Rejects if
   * its `run` fails or ends before, or if its `end` aborts, with the reason.
   */
  prepare(next: Generation): Promise<() => void>
}

/** `first` serves until it is replaced by a view with the same name and path. */
export function replaceableView(first: Generation): ReplaceableView {
  const generations = new Generations(first)
  const { view } = first
  return {
    view: new Proxy(view, {
      get: (_, member) => (member === 'run' ? generations.run : Reflect.get(generations.current, member)),
      has: (_, member) => member === 'run' || Reflect.has(generations.current, member),
    }),
    prepare: next => generations.prepare(next),
  }
}

/** The controllers of a view, which have begun. */
interface Running {
  /** Rejects if they fail or end before. */
  readonly ready: Promise<void>
  /** Rejects when they fail. */
  readonly over: Promise<void>
}

class Generations {
  #current: Generation
  /** Those of the current view; undefined before they begin, and after they have failed. */
  #running: Running | undefined
  #stopped: AbortSignal | undefined
  #ready: () => void = () => undefined
  #fail: (error: unknown) => void = () => undefined

  constructor(first: Generation) {
    this.#current = first
  }

  get current(): VirtualWorkspace {
    return this.#current.view
  }

  /** Rejects when the controllers of the current view fail. The caller calls it again, as it does for other views. */
  readonly run: Required<VirtualWorkspace>['run'] = async (ready, signal) => {
    this.#stopped = signal
    this.#ready = ready
    const failed = new Promise<never>((_, reject) => {
      this.#fail = reject
    })
    this.#running ??= this.#follow(begun(this.#current, signal))
    this.#running.ready.then(ready, () => undefined)
    await Promise.race([failed, aborted(signal)])
    this.#current.end.abort()
  }

  async prepare(next: Generation): Promise<() => void> {
    const running = begun(next, this.#stopped)
    await running.ready
    return () => this.#replace(next, running)
  }

  #replace(next: Generation, running: Running): void {
    const last = this.#current
    this.#current = next
    this.#running = this.#follow(running)
    this.#ready()
    last.end.abort()
  }

  #follow(running: Running): Running {
    running.over.catch(error => {
      if (this.#running !== running) return
      this.#running = undefined
      this.#fail(error)
    })
    return running
  }
}

/** Starts the controllers of a view. */
function begun({ view, end }: Generation, stopped: AbortSignal | undefined): Running {
  const { run } = view
  if (run === undefined) return { ready: Promise.resolve(), over: Promise.resolve() }
  const signal = stopped === undefined ? end.signal : AbortSignal.any([end.signal, stopped])
  let over: Promise<void> = Promise.resolve()
  const ready = new Promise<void>((resolve, reject) => {
    over = run.call(view, resolve, signal)
    over.then(() => reject(new Error('run() has ended, and did not call ready()')), reject)
    void aborted(signal).then(() => reject(signal.reason))
  })
  return { ready, over }
}
