type Handler = () => void

const handlersOf = new WeakMap<AbortSignal, Set<Handler>>()

/**
 * Calls `handler` once when the signal aborts, and at once when it has. Returns the removal. Signals that thousands of
 * requests listen to get one listener for all of them: an `AbortSignal` looks through its listeners to take one more.
 */
export function onAbort(signal: AbortSignal, handler: Handler): () => void {
  if (signal.aborted) {
    handler()
    return () => undefined
  }
  const handlers = handlersOf.get(signal) ?? fanOut(signal)
  // A function of its own: the same handler may be given twice.
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
