import { LRUCache } from 'lru-cache'

/** When a circuit breaker opens, and for how long. */
export interface BreakerOptions {
  /** The number of failures in a row, without a success, after which it opens. */
  readonly failures: number
  /** Milliseconds. */
  readonly firstPause: number
  readonly longestPause: number
}

interface Circuit {
  failures: number
  pause: number
  /** While it is open: when the next request is let through. */
  opensAt: number | undefined
}

/** The most circuits with failures; those without need none. */
const most = 1000

/**
 * Circuit breakers by key. One opens after some failures in a row; then one request is let through after each pause. Its
 * success closes the circuit, its failure doubles the pause. `now` is the time in milliseconds.
 */
export class Breakers {
  readonly #options: BreakerOptions
  readonly #now: () => number
  readonly #circuits = new LRUCache<string, Circuit>({ max: most })

  constructor(options: BreakerOptions, now: () => number = () => performance.now()) {
    this.#options = options
    this.#now = now
  }

  /** The milliseconds until the next attempt; undefined: the request may be sent. */
  refuses(key: string): number | undefined {
    const circuit = this.#circuits.get(key)
    if (circuit?.opensAt === undefined) return undefined
    const left = circuit.opensAt - this.#now()
    if (left > 0) return left
    // The others wait for the result of this one.
    circuit.opensAt = this.#now() + circuit.pause
    return undefined
  }

  /** Whether a circuit was open, and is closed now. */
  succeeded(key: string): boolean {
    const circuit = this.#circuits.get(key)
    if (circuit === undefined) return false
    this.#circuits.delete(key)
    return circuit.opensAt !== undefined
  }

  /** The milliseconds for which the failure opens the circuit; undefined if it does not. */
  failed(key: string): number | undefined {
    const { failures, firstPause, longestPause } = this.#options
    const circuit = this.#circuits.get(key) ?? { failures: 0, pause: firstPause / 2, opensAt: undefined }
    this.#circuits.set(key, circuit)
    circuit.failures++
    if (circuit.failures < failures) return undefined
    circuit.pause = Math.min(longestPause, circuit.pause * 2)
    circuit.opensAt = this.#now() + circuit.pause
    return circuit.pause
  }

  /** The keys of the open circuits. */
  open(): readonly string[] {
    return [...this.#circuits.entries()].flatMap(([key, { opensAt }]) => (opensAt === undefined ? [] : [key]))
  }
}
