/** Milliseconds of work after which other requests have their turn. */
export const slice = 2

type Length = 'short' | 'long'

type Start = () => void

/** Measures work that waits for turns. */
export interface TurnMeter {
  /** Work begins to wait; returns what is called before it goes on. */
  waits(): () => void
  /** Work that went on has ended, or waits again. */
  ends(): void
}

/**
 * The work of all requests that waits for a turn. One turn of the event loop has one slice of it, whoever waits: with a slice
 * for each, a request that needs none would wait as long as all others work. Short and long work alternate, each in its
 * order, so that nobody waits for the long work of many.
 */
class WaitingWork {
  readonly #waiting: Readonly<Record<Length, Start[]>> = { short: [], long: [] }
  #isScheduled = false
  #since = 0
  meter: TurnMeter | undefined
  #last: Length = 'long'

  add(length: Length, start: Start): void {
    const goesOn = this.meter?.waits()
    this.#waiting[length].push(() => {
      goesOn?.()
      start()
    })
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#begin)
  }

  readonly #begin = (): void => {
    this.#since = performance.now()
    this.#startOne()
  }

  readonly #startOne = (): void => {
    const other = this.#last === 'short' ? 'long' : 'short'
    const chosen = this.#waiting[other].length > 0 ? other : this.#last
    this.#last = chosen
    this.#waiting[chosen].shift()?.()
    // A tick that a microtask schedules runs after the microtasks in which this work is done.
    queueMicrotask(() => process.nextTick(this.#goOn))
  }

  readonly #goOn = (): void => {
    this.meter?.ends()
    const { short, long } = this.#waiting
    this.#isScheduled = short.length + long.length > 0
    if (!this.#isScheduled) return
    if (performance.now() - this.#since < slice) this.#startOne()
    else setImmediate(this.#begin)
  }
}

const waiting = new WaitingWork()

/** From now on, `meter` measures the work of this process that waits for turns. */
export const measureTurns = (meter: TurnMeter): void => {
  waiting.meter = meter
}

/** Work begins to wait for another server. Returns what is called before it goes on, so that it is measured. */
export const waitOutside = (): (() => void) => waiting.meter?.waits() ?? (() => undefined)

/** Resolves in a turn of the event loop that has time left, after the pending I/O. */
export const turn = (): Promise<void> => new Promise(resolve => waiting.add('short', resolve))

/** The same, for work that has had several slices already. */
export const laterTurn = (): Promise<void> => new Promise(resolve => waiting.add('long', resolve))
