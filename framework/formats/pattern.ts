import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'

/** More expensive patterns are refused: no schema needs them, and compiling costs in proportion. */
const maxCost = 200_000

/** At most how many instructions a pattern may become: its length times its repetitions, which RE2 limits to 1,000. */
export function patternCost(pattern: string): number {
  const repeats = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, min, max]) =>
    Math.max(1, Number(min), Number(max ?? 0)),
  )
  const total = repeats.reduce((product, count) => Math.min(1000, product * count), 1)
  return pattern.length * total
}

/** The compiled expression, or what is wrong with it in Go's words. */
function compile(pattern: string): RE2JS | string {
  if (patternCost(pattern) > maxCost) return 'error parsing regexp: expression too large'
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * What is wrong with a regular expression; undefined when nothing is. Patterns are RE2: no lookaround, no back
 * references, and time linear in the input whatever the pattern.
 */
export function patternError(pattern: string): string | undefined {
  const compiled = compile(pattern)
  return typeof compiled === 'string' ? compiled : undefined
}

/** A pattern, compiled on first use. One that does not compile matches nothing, as in Kubernetes. */
export interface Pattern {
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean
  /** At most how many steps `test` takes. */
  steps(text: string): number
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
    steps: text => {
      const regex = expression()
      return typeof regex === 'string' ? 0 : regex.programSize() * text.length
    },
  }
}

/** A compiled expression. */
export interface CompiledPattern {
  test(text: string): boolean
  /** What it matches in a text, from the left; at most `count` matches if that is not negative. */
  find(text: string, count: number): readonly string[]
  /** At most how many steps `test` and `find` take. */
  steps(text: string): number
}

const expressions = new LRUCache<string, CompiledPattern | string>({ max: 2000 })

/** The compiled expression, or what is wrong with it in Go's words. The last used ones are kept. */
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
  find: (text, count) => {
    const found: string[] = []
    const matcher = regex.matcher(text)
    while (found.length !== count && matcher.find()) found.push(matcher.group() ?? '')
    return found
  },
  steps: text => regex.programSize() * (text.length + 1),
})
