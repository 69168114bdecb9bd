import { testInThread } from '../../framework/threads/patternthread.ts'
import type { CostTracker, LongMatch } from '../values/costtracker.ts'
import type { CelValue } from '../values/value.ts'

/** Thrown where a long evaluation is interrupted. Run again with the same Replay, it goes on from there. */
export class Paused extends Error {
  /** Resolves when the evaluation can go on; undefined: at once. */
  readonly until: Promise<void> | undefined
  constructor(until?: Promise<void>) {
    super('evaluation paused')
    this.until = until
  }
}

const paused = new Paused()

/** Units of cost and of work after which an evaluation pauses: some milliseconds. */
const unitsOfStep = 20_000

/** The state of a loop before its next iteration. */
export interface LoopState {
  readonly size: number
  readonly at: (index: number) => CelValue
  /** undefined for lists. */
  readonly keys: readonly CelValue[] | undefined
  next: number
  accumulator: CelValue
}

/** The result of a call or loop, or the state of a loop, with the cost and the effort up to there. */
interface Step {
  readonly node: object
  readonly value?: CelValue
  readonly loop?: LoopState
  cost: number
  effort: number
}

/**
 * What an interrupted evaluation has computed so far. Evaluations are deterministic: when one begins again, its calls and loops have the
 * kept results, in the same order, with the same cost. The steps of a call are dropped when it has its result.
 */
export class Replay {
  /** Units between two pauses. */
  readonly units: number
  readonly longMatch: LongMatch | undefined
  #steps: Step[] = []
  #position = 0
  #start: number | undefined
  #last = 0

  /** `account`: whose long matches of patterns are made in a thread; absent: they exceed the cost. */
  constructor(account?: string, units = unitsOfStep) {
    this.units = units
    this.longMatch = account === undefined ? undefined : matchInThread(account)
  }

  get hasBegun(): boolean {
    return this.#start !== undefined
  }

  /** Begins, or begins again. */
  begin({ effort }: CostTracker): void {
    this.#start ??= effort.left
    effort.left = this.#start
    this.#position = 0
  }

  /** The kept result, or that of `run`. Throws `Paused`. */
  result<F extends CostTracker>(node: object, frame: F, run: (frame: F) => CelValue): CelValue {
    const step = this.#steps[this.#position]
    if (step?.node === node && step.value !== undefined) {
      this.#go(step, frame)
      return step.value
    }
    const at = this.#position
    const before = this.#done(frame)
    const value = run(frame)
    // The results of short calls are computed again.
    if (this.#done(frame) - before < this.units / 1_000) return value
    this.#keep(at, { node, value, cost: frame.cost, effort: frame.effort.left })
    this.#pauseWhenDue(frame)
    return value
  }

  /** The kept state of a loop, or that which `begin` returns, and its place; undefined if `begin` does. */
  loop(
    node: object,
    frame: CostTracker,
    begin: () => LoopState | undefined,
  ): { readonly loop: LoopState; readonly place: number } | undefined {
    const at = this.#position
    const step = this.#steps[at]
    if (step?.node === node && step.loop !== undefined) {
      this.#go(step, frame)
      return { loop: step.loop, place: at }
    }
    const loop = begin()
    if (loop === undefined) return undefined
    this.#keep(at, { node, loop, cost: frame.cost, effort: frame.effort.left })
    return { loop, place: at }
  }

  /** Between two iterations: what the last one kept is dropped. Throws `Paused`. */
  advance(place: number, frame: CostTracker): void {
    const step = this.#steps[place]
    if (step === undefined) return
    step.cost = frame.cost
    step.effort = frame.effort.left
    this.#position = place + 1
    if (this.#steps.length > this.#position) this.#steps.length = this.#position
    this.#pauseWhenDue(frame)
  }

  #go({ cost, effort }: Step, frame: CostTracker): void {
    this.#position++
    frame.cost = cost
    frame.effort.left = effort
  }

  #keep(at: number, step: Step): void {
    this.#steps.length = at
    this.#steps.push(step)
    this.#position = at + 1
  }

  #done({ cost, effort }: CostTracker): number {
    return cost + (this.#start ?? 0) - effort.left
  }

  #pauseWhenDue(frame: CostTracker): void {
    const done = this.#done(frame)
    if (done - this.#last < this.units) return
    this.#last = done
    throw paused
  }
}

/** Throws `Paused` until the thread has the result, or its error. All are kept: an iteration of a loop may need several. */
function matchInThread(account: string): LongMatch {
  const results = new Map<string, () => boolean>()
  return (source, text) => {
    const key = JSON.stringify([source, text])
    const known = results.get(key)
    if (known !== undefined) return known()
    const keep = (matches: boolean): void => void results.set(key, () => matches)
    const fail = (error: unknown): void =>
      void results.set(key, () => {
        throw error
      })
    throw new Paused(testInThread({ source, text }, account).then(keep, fail))
  }
}

/** The interrupted evaluations of several programs, which begin again together. */
export class Replays {
  readonly #account: string | undefined
  readonly #replays = new Map<object, Replay>()

  /** `account`: whose long matches of patterns are made in a thread; absent: they exceed the cost. */
  constructor(account?: string) {
    this.#account = account
  }

  of(program: object): Replay {
    const replay = this.#replays.get(program) ?? new Replay(this.#account)
    this.#replays.set(program, replay)
    return replay
  }
}
