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

/** The largest program whose automaton mostly stays within its memory. */
const smallProgram = 140

/**
 * At most how many units of work a search takes, each of about 20 nanoseconds: 10 to 30 nanoseconds for each character and
 * instruction.
 */
const testWork = (regex: RE2JS, text: string): number => {
  const size = regex.programSize()
  return Math.ceil(size * (text.length + 1) * (size <= smallProgram ? 0.5 : 2))
}

/** A pattern that is compiled on first use. A pattern with errors matches nothing, as in Kubernetes. */
export interface Pattern {
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean
  /** Units of work of `test`, each of about 20 nanoseconds: at most so many. */
  work(text: string): number
}

export function lazyPattern(source: string): Pattern {
  let compiled: RE2JS | string | undefined
  const expression = (): RE2JS | string => {
    compiled ??= compile(source)
    return compiled
  }
  return {
    test: text => {
      const regex = expression()
      return typeof regex !== 'string' && regex.test(text)
    },
    work: text => {
      const regex = expression()
      return typeof regex === 'string' ? 0 : testWork(regex, text)
    },
  }
}

/** A compiled regular expression. */
export interface CompiledPattern {
  test(text: string): boolean
  /** The matches in a text, from the left. */
  matches(text: string): Iterable<string>
  /** Units of work of `test`, each of about 20 nanoseconds: at most so many. */
  testWork(text: string): number
  /** The same of `matches`, without `workOfMatch` for each match. */
  matchesWork(text: string): number
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
  *matches(text) {
    const matcher = regex.matcher(text)
    while (matcher.find()) yield matcher.group() ?? ''
  },
  testWork: text => testWork(regex, text),
  matchesWork: text => 2 * regex.programSize() * (text.length + 1),
})

/** Units of work of one match that `matches` finds. */
export const workOfMatch = 25
