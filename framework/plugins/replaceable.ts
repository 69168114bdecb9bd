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
  let current = first
  let stopped: AbortSignal | undefined
  const begin = (generation: Generation): Promise<void> => begun(generation, stopped)
  const run: Required<VirtualWorkspace>['run'] = async (ready, signal) => {
    stopped = signal
    begin(current).then(ready, () => undefined)
    await aborted(signal)
    current.end.abort()
  }
  const view = new Proxy(first.view, {
    get: (_, member) => (member === 'run' ? run : Reflect.get(current.view, member)),
    has: (_, member) => member === 'run' || Reflect.has(current.view, member),
  })
  return {
    view,
    async replace(next) {
      await begin(next)
      const last = current
      current = next
      last.end.abort()
    },
  }
}

/** Starts the controllers of a view; resolves when it is ready. */
function begun({ view, end }: Generation, stopped: AbortSignal | undefined): Promise<void> {
  const { run } = view
  if (run === undefined) return Promise.resolve()
  const signal = stopped === undefined ? end.signal : AbortSignal.any([end.signal, stopped])
  return new Promise((resolve, reject) => {
    run.call(view, resolve, signal).catch(reject)
  })
}
