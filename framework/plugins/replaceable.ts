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
  /** Resolves when the next view is ready and serves; the last one has ended then. Rejects if its `run` fails before. */
  replace(next: Generation): Promise<void>
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
    replace: next => generations.replace(next),
  }
}

/** The controllers of a view, which have begun. */
interface Running {
  /** Rejects if they fail before. */
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

  async replace(next: Generation): Promise<void> {
    const running = begun(next, this.#stopped)
    await running.ready
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
    over.catch(reject)
  })
  return { ready, over }
}
