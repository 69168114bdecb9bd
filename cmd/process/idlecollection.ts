import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const mebi = 1024 * 1024

/** Bytes that may be garbage in an idle process. */
const tolerated = 32 * mebi

/**
 * Bytes of V8's heap after a collection above which V8 decides alone from then on: a collection stops the process for a millisecond
 * for each MiB of live objects.
 */
const largest = 48 * mebi

/** The share of the time in which a process that is called idle runs JavaScript. */
const idle = 0.05

/** Bytes in use: what V8 visits in a collection, and all, with the buffers beside its heap. */
function memory(): { readonly heap: number; readonly all: number } {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
  return { heap, all: heap + external }
}

/** Returns the garbage collector of V8, which Node shows to scripts only with a flag. */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  return collect
}

interface Options {
  /** Milliseconds between two looks. */
  readonly interval?: number
  /** Returns what collects the garbage. */
  readonly collector?: () => () => void
}

/**
 * Collects the garbage of a burst of requests when the process has been idle for two intervals. V8 collects when it
 * needs room, so an idle server would hold hundreds of MiB until the next burst.
 */
export function collectWhenIdle(signal: AbortSignal, options: Options = {}): void {
  const { interval = 5_000, collector = garbageCollector } = options
  let collect: (() => void) | undefined
  let live = memory()
  let since = performance.eventLoopUtilization()
  let wasIdle = false
  const look = (): void => {
    const isIdle = performance.eventLoopUtilization(since).utilization < idle
    since = performance.eventLoopUtilization()
    if (isIdle && wasIdle && live.heap < largest && memory().all - live.all > tolerated) {
      collect ??= collector()
      collect()
      live = memory()
    }
    wasIdle = isIdle
  }
  const timer = setInterval(look, interval).unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}
