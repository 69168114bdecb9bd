import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'

/** The maximum of `patternCost`: the cost of compiling is proportional to it. */
const maxCost = 200_000

/** The maximum number of instructions of a pattern: its length times its repetitions, which RE2 limits to 1,000. */
export function patternCost(pattern: string): number {
  const repeats = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, min, max]) =>
    Math.max(1, Number(min), Number(max ?? 0)),
  )
  const total = repeats.reduce((product, count) => Math.min(1000, product * count), 1)
  return pattern.length * total
}

/** The compiled expression, or the error of Go. */
function compile(pattern: string): RE2JS | string {
  if (patternCost(pattern) > maxCost) return 'error parsing regexp: expression too large'
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * The error of a regular expression; undefined for a valid one. Patterns are RE2: no lookaround, no back references,
 * and matching takes time linear in the input.
 */
export function patternError(pattern: string): string | undefined {
  const compiled = compile(pattern)
  return typeof compiled === 'string' ? compiled : undefined
}

/** Bytes of the states of an automaton (`DFA` of re2js): the search goes on without one where they are not enough. */
const bytesOfStates = 8 * 1024 * 1024

/** The largest program whose automaton is mostly worth its making. */
const smallProgram = 140

/**
 * At most how long a search takes, in nanoseconds of a machine of 2026: 100 for each instruction of each state that is made, and 10 or
 * 30 for each instruction and character.
 */
function searchTime(regex: RE2JS, { length }: string): number {
  const size = regex.programSize()
  const states = Math.min(length + 1, 2 ** size, bytesOfStates / (240 + 8 * size))
  return size * (100 * states + (size <= smallProgram ? 10 : 30) * length)
}

const stepsOf = (regex: RE2JS, { length }: string): number => regex.programSize() * (length + 1)

/** Nanoseconds that one search, which is not interrupted, may take. Most take a tenth of `searchTime`. */
const longestSearch = 150_000_000

/** A pattern that is compiled on first use. A pattern with errors matches nothing, as in Kubernetes. */
export interface Pattern {
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean
  /** Maximum number of steps of `test`, of 100 nanoseconds or less. */
  steps(text: string): number
  /** Whether `test` could take more than 150 milliseconds. */
  isTooLong(text: string): boolean
}

export function lazyPattern(source: string): Pattern {
  let compiled: RE2JS | string | undefined
  const of = <T>(otherwise: T, use: (regex: RE2JS) => T): T => {
    compiled ??= compile(source)
    return typeof compiled === 'string' ? otherwise : use(compiled)
  }
  return {
    test: text => of(false, regex => regex.test(text)),
    steps: text => of(0, regex => stepsOf(regex, text)),
    isTooLong: text => of(false, regex => searchTime(regex, text) > longestSearch),
  }
}

/** A compiled regular expression. */
export interface CompiledPattern extends Pattern {
  /** The matches in a text, from the left. A step takes about 40 nanoseconds, and a match about 500. */
  matches(text: string): Iterable<string>
}

const expressions = new LRUCache<string, CompiledPattern | string>({ max: 2000 })

/** The compiled expression, or the error of Go. Recently used expressions are cached. */
export function compilePattern(source: string): CompiledPattern | string {
  const known = expressions.get(source)
  if (known !== undefined) return known
  const regex = compile(source)
  const made = typeof regex === 'string' ? regex : expressionOf(regex)
  if (source.length < 10_000) expressions.set(source, made)
  return made
}

const expressionOf = (regex: RE2JS): CompiledPattern => ({
  test: text => regex.test(text),
  steps: text => stepsOf(regex, text),
  isTooLong: text => searchTime(regex, text) > longestSearch,
  *matches(text) {
    const matcher = regex.matcher(text)
    while (matcher.find()) yield matcher.group() ?? ''
  },
})
