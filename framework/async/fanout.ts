type Handler = () => void

const handlersOf = new WeakMap<AbortSignal, Set<Handler>>()

/**
 * Calls `handler` once when the signal aborts, at once if it is aborted. Returns a function that removes the handler. A
 * signal that thousands of requests listen to gets one listener: an `AbortSignal` searches its listeners to add
 * another.
 */
export function onAbort(signal: AbortSignal, handler: Handler): () => void {
  if (signal.aborted) {
    handler()
    return () => undefined
  }
  const handlers = handlersOf.get(signal) ?? fanOut(signal)
  // The same handler may be added twice.
  const own = (): void => handler()
  handlers.add(own)
  return () => void handlers.delete(own)
}

function fanOut(signal: AbortSignal): Set<Handler> {
  const handlers = new Set<Handler>()
  handlersOf.set(signal, handlers)
  const callAll = (): void => {
    for (const handler of handlers) handler()
    handlers.clear()
  }
  signal.addEventListener('abort', callAll, { once: true })
  return handlers
}
