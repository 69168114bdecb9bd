import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'
import { maxPatternCost, patternCost, unicodeClasses } from './patterncost.ts'

/**
 * Bytes of the states of an automaton (`DFA` of re2js), which is built while it searches: where they are not enough, the search goes on
 * without one. Most patterns need a hundredth. 8 MiB, the default of re2js, are also slow to fill: a tenth of a second.
 */
const bytesOfStates = 512 * 1024

/** The largest program whose automaton is mostly worth its making. */
const smallProgram = 140

/**
 * Milliseconds: of a match that is made at once, and of the longest one where no thread makes those that may take more. Matches without an
 * account have no thread.
 */
export const matchTimes = { atOnce: 10, withoutThread: 25 } as const

/** A regular expression, which matches nothing if it has errors, as in Kubernetes. */
export interface Pattern {
  readonly source: string
  /** Maximum number of steps of compiling it, which is done on first use and when it is not kept any more. */
  compileSteps(): number
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean
  /** Maximum number of steps of `test`, of 100 nanoseconds or less. */
  steps(text: string): number
  /** At most how many milliseconds `test` takes on a machine of 2026. Most take a tenth. */
  time(text: string): number
}

/** A compiled regular expression. It keeps the states of its automaton from one search to the next. */
export class CompiledPattern {
  readonly source: string
  readonly #regex: RE2JS
  readonly #size: number
  readonly #bytesOfProgram: number
  /** Whether it is among those that are kept. */
  isKept = false

  /** Throws the errors of re2js. */
  constructor(source: string) {
    this.source = source
    this.#regex = RE2JS.compile(source)
    this.#size = this.#regex.programSize()
    this.#bytesOfProgram = 4_000 + 300 * this.#size + 6_000 * unicodeClasses(source)
    const { dfa } = this.#regex.re2Input
    dfa.stateBudget = bytesOfStates
    dfa.memBudget = bytesOfStates
  }

  /** Whether it matches anywhere in the text. */
  test(text: string): boolean {
    const before = this.bytes
    const matches = this.#regex.test(text)
    if (this.bytes !== before) keep(this)
    return matches
  }

  /** Maximum number of steps of `test`, of 100 nanoseconds or less. */
  steps(text: string): number {
    return this.#size * (text.length + 1)
  }

  /** 100 nanoseconds for each instruction of each state that is made, and 10 or 40 for each instruction and character. */
  time({ length }: string): number {
    const states = Math.min(length + 1, 2 ** this.#size, this.#mostStates(length))
    return (this.#size * (100 * states + (this.#size <= smallProgram ? 10 : 40) * length)) / 1_000_000
  }

  /** The matches in a text, from the left. A step takes about 40 nanoseconds, and a match about 500. */
  *matches(text: string): Generator<string, void> {
    const matcher = this.#regex.matcher(text)
    while (matcher.find()) yield matcher.group() ?? ''
  }

  /** Of the program and of the states. */
  get bytes(): number {
    const { stateBudget, memBudget } = this.#regex.re2Input.dfa
    return this.#bytesOfProgram + stateBudget - memBudget
  }

  /** When there is no room for another state, all are dropped; the next time only if each was used ten times. */
  #mostStates(length: number): number {
    return (2 * bytesOfStates) / (240 + 8 * this.#size) + length / 10
  }
}

/** A unit of `patternCost` takes one or two microseconds. */
const stepsOfCost = 20

/** Bytes of all compiled expressions that are kept: those used last. */
const mostBytes = 128 * 1024 * 1024

/** Compiled expressions, and the errors of others. */
const kept = new LRUCache<string, CompiledPattern | string>({
  maxSize: mostBytes,
  sizeCalculation: (made, source) => source.length + (typeof made === 'string' ? made.length : made.bytes),
  dispose: made => {
    if (typeof made !== 'string') made.isKept = false
  },
})

/** Keeps the expression, by its present size. */
function keep(made: CompiledPattern): void {
  // An entry that is set again with the same value keeps its size.
  kept.delete(made.source)
  kept.set(made.source, made)
  made.isKept = kept.has(made.source)
}

/** The compiled expression, or the error of Go. */
export function compilePattern(source: string): CompiledPattern | string {
  if (source.length > maxPatternCost) return tooLarge
  const known = kept.get(source)
  if (known !== undefined) return known
  const made = compile(source)
  if (typeof made === 'string') kept.set(source, made)
  else keep(made)
  return made
}

/** The text of Go for a program that is too large. */
const tooLarge = 'error parsing regexp: expression too large'

function compile(source: string): CompiledPattern | string {
  if (patternCost(source) > maxPatternCost) return tooLarge
  try {
    return new CompiledPattern(source)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Maximum number of steps of `compilePattern`, of 100 nanoseconds or less: 0 when its result is kept, or known from the length. */
export const compileSteps = (source: string): number =>
  source.length > maxPatternCost || kept.has(source)
    ? 0
    : stepsOfCost * Math.min(maxPatternCost, patternCost(source))

/**
 * The error of a regular expression; undefined for a valid one. Patterns are RE2: no lookaround, no back references,
 * and matching takes time linear in the input.
 */
export function patternError(source: string): string | undefined {
  const compiled = compilePattern(source)
  return typeof compiled === 'string' ? compiled : undefined
}

/** A pattern that is compiled when it is used. */
export function lazyPattern(source: string): Pattern {
  let last: CompiledPattern | undefined
  const compiled = (): CompiledPattern | undefined => {
    if (last?.isKept) return last
    const made = compilePattern(source)
    last = typeof made === 'string' ? undefined : made
    return last
  }
  return {
    source,
    compileSteps: () => (last?.isKept ? 0 : compileSteps(source)),
    test: text => compiled()?.test(text) ?? false,
    steps: text => compiled()?.steps(text) ?? 0,
    time: text => compiled()?.time(text) ?? 0,
  }
}
