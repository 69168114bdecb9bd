import { isDeepStrictEqual } from 'node:util'
import { matchTimes, type Pattern } from '../../framework/formats/pattern.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import type { PathStep } from '../../framework/meta/fielderror.ts'
import { testInThread } from '../../framework/threads/patternthread.ts'

/** Steps of all matches of one validation: seconds of processor time at most. */
const mostSteps = 50_000_000

/** Values that one validation visits in alternatives: seconds of processor time at most. */
const mostVisits = 2_000_000

const tooManyVisits = `limit of anyOf, oneOf, allOf and not is ${mostVisits} values together`

/** Milliseconds after which a validation pauses. */
const slice = 10

/** Milliseconds of the longest match in the thread. */
const longestInThread = 1_000

/** Steps of matches between two looks at the clock; a visit counts like so many of them. */
const [stepsOfLook, stepsOfVisit] = [10_000, 10]

/** What beginning again after a match in the thread counts for. */
const stepsOfRestart = 500_000

/** Thrown when the work of this turn has taken long, and before a long match. */
export class ValidationPaused extends Error {
  override readonly name = 'ValidationPaused'
  /** Resolves when the long match has a result. */
  readonly until: Promise<void> | undefined
  constructor(until?: Promise<void>) {
    super('validation paused')
    this.until = until
  }
}

/** Thrown when an object needs more work than one validation may have. */
export class LimitExceeded extends Error {
  override readonly name = 'LimitExceeded'
  /** Where the validation is in the object. */
  readonly path: Path
  constructor(path: Path, message: string) {
    super(message)
    this.path = [...path]
  }
}

export type MatchResult = 'matches' | 'differs' | 'too long'

const resultOf = (matches: boolean): MatchResult => (matches ? 'matches' : 'differs')

/** The result of one alternative for a value. */
export interface Attempt {
  readonly errors: FieldError[]
  /** The number of visited values. */
  readonly visits: number
}

interface KeptAttempt extends Attempt {
  /** What was attempted. */
  readonly check: object
  /** The visits that it counted for. */
  readonly counted: number
}

/** Where an alternative was begun. */
interface Begun {
  readonly position: number
  readonly visits: number
}

type Path = readonly PathStep[]

/**
 * How far a validation is, which is deterministic: when it begins again after a pause, the matches and alternatives of before have their
 * kept results, in the same order. What an alternative needed is dropped when it has its result. Most validations end without a pause:
 * nothing is kept until the first one.
 */
export class ValidationProgress {
  /** Whose long matches are made in the thread; undefined: they are refused. */
  readonly #account: string | undefined
  readonly #results: (MatchResult | KeptAttempt)[] = []
  readonly #compared = new Map<object, { readonly old: unknown; readonly areSame: boolean }>()
  #keeps = false
  #position = 0
  #steps = 0
  /** Since the beginning, with those whose results were kept. */
  #visits = 0
  #nextLook = stepsOfLook
  /** When the first new work of this turn began. */
  #since: number | undefined
  #failure: unknown

  constructor(account?: string) {
    this.#account = account
  }

  /** Begins the validation again. Throws the failure of the thread. */
  begin(): void {
    if (this.#failure !== undefined) throw this.#failure
    this.#position = 0
    this.#visits = 0
    this.#since = undefined
  }

  /** Whether a value is equal to its old one. Objects are compared once, whatever number of alternatives asks. */
  areSame(value: unknown, old: unknown): boolean {
    if (typeof value !== 'object' || value === null) return isDeepStrictEqual(value, old)
    const known = this.#compared.get(value)
    if (known !== undefined && known.old === old) return known.areSame
    const areSame = isDeepStrictEqual(value, old)
    this.#compared.set(value, { old, areSame })
    return areSame
  }

  /** The kept result, or that of the match. Throws `ValidationPaused` and `LimitExceeded`. */
  match(pattern: Pattern, text: string, path: Path): MatchResult {
    if (!this.#keeps) return this.#matched(pattern, text, path)
    const known = this.#results[this.#position]
    const result = typeof known === 'string' ? known : this.#matched(pattern, text, path)
    this.#results[this.#position++] = result
    return result
  }

  /** The kept result of an alternative, which is not attempted again. */
  known(check: object): Attempt | undefined {
    const known = this.#keeps ? this.#results[this.#position] : undefined
    if (typeof known !== 'object' || known.check !== check) return undefined
    this.#position++
    this.#visits += known.counted
    return known
  }

  /** Begins to attempt an alternative that is not known. */
  begins(): Begun {
    // An alternative that has kept results in it is not new.
    if (this.#position === this.#results.length) this.#since ??= performance.now()
    return { position: this.#position, visits: this.#visits }
  }

  /** Keeps the result of an alternative. Throws `ValidationPaused` and `LimitExceeded`. */
  ends(check: object, begun: Begun, { errors, visits }: Attempt, path: Path): void {
    // Those of alternatives in it are counted already.
    this.#visits += Math.max(1, visits - (this.#visits - begun.visits))
    if (this.#keeps) {
      this.#results.length = begun.position
      this.#results.push({ check, errors, visits, counted: this.#visits - begun.visits })
      this.#position = begun.position + 1
    }
    if (this.#visits > mostVisits) throw new LimitExceeded(path, tooManyVisits)
    this.#pauseWhenDue()
  }

  #matched(pattern: Pattern, text: string, path: Path): MatchResult {
    this.#pauseWhenDue()
    this.#since ??= performance.now()
    this.#steps += pattern.compileSteps()
    const time = pattern.time(text)
    if (time > (this.#account === undefined ? matchTimes.withoutThread : longestInThread)) return 'too long'
    const steps = pattern.steps(text)
    if (this.#steps + steps > mostSteps)
      throw new LimitExceeded(path, `limit of patterns is ${mostSteps} steps together`)
    if (time > matchTimes.atOnce && this.#account !== undefined)
      this.#matchInThread(pattern, text, this.#account)
    this.#steps += steps
    return resultOf(pattern.test(text))
  }

  #matchInThread(pattern: Pattern, text: string, account: string): never {
    if (!this.#keeps) this.#pause()
    this.#steps += pattern.steps(text) + stepsOfRestart
    const at = this.#position
    const keep = (matches: boolean): void => {
      this.#results[at] = resultOf(matches)
    }
    const fail = (error: unknown): void => {
      this.#failure = error
    }
    throw new ValidationPaused(testInThread({ source: pattern.source, text }, account).then(keep, fail))
  }

  #pauseWhenDue(): void {
    const work = this.#steps + this.#visits * stepsOfVisit
    if (work < this.#nextLook) return
    this.#nextLook = work + stepsOfLook
    if (this.#since !== undefined && performance.now() - this.#since >= slice) this.#pause()
  }

  /** The first pause begins everything again, because nothing was kept. */
  #pause(): never {
    if (!this.#keeps) [this.#steps, this.#nextLook] = [0, stepsOfLook]
    this.#keeps = true
    throw new ValidationPaused()
  }
}
