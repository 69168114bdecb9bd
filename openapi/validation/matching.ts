import type { Pattern } from '../../framework/formats/pattern.ts'

/** Units of work (`Pattern.work`) of one match, which is not interrupted: some tens of milliseconds. */
const mostOfMatch = 3_000_000

/** Of all matches of one validation: about half a second. */
const mostOfAll = 25_000_000

/** After which a validation pauses: at most 20 milliseconds, because it begins again with the whole object. */
const unitsOfStep = 1_000_000

/** Thrown before a match for which no time is left in this turn. */
export class MatchingPaused extends Error {
  override readonly name = 'MatchingPaused'
  constructor() {
    super('validation paused')
  }
}

export type MatchResult = 'matches' | 'differs' | 'too long'

/**
 * The matches of a validation, which is deterministic: when it begins again after a pause, the matches of before have their kept
 * results, in the same order.
 */
export class Matching {
  readonly #results: MatchResult[] = []
  #position = 0
  #done = 0
  #begun = 0

  /** Begins the validation again. */
  begin(): void {
    this.#position = 0
    this.#begun = this.#done
  }

  /** The kept result, or that of the match. Throws `MatchingPaused`. */
  match(pattern: Pattern, text: string): MatchResult {
    const result = this.#results[this.#position] ?? this.#matched(pattern, text)
    this.#results[this.#position++] = result
    return result
  }

  #matched(pattern: Pattern, text: string): MatchResult {
    const work = pattern.work(text)
    const before = this.#done - this.#begun
    if (before > 0 && before + work > unitsOfStep) throw new MatchingPaused()
    if (work > mostOfMatch || this.#done + work > mostOfAll) return 'too long'
    this.#done += work
    return pattern.test(text) ? 'matches' : 'differs'
  }
}
