import { RE2JS } from 're2js'

/** Longer patterns are refused: no schema needs them, and compiling costs in proportion to their length. */
const maxLength = 10_000

/** The compiled expression, or what is wrong with it in Go's words. */
function compile(pattern: string): RE2JS | string {
  if (pattern.length > maxLength) return `error parsing regexp: longer than ${maxLength} characters`
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

/**
 * Whether a pattern matches anywhere in a text. Compiled on first use. A pattern that does not compile matches nothing,
 * as in Kubernetes, where stored schemas may hold such patterns.
 */
export function patternTest(pattern: string): (text: string) => boolean {
  let compiled: RE2JS | string | undefined
  return text => {
    compiled ??= compile(pattern)
    return typeof compiled !== 'string' && compiled.test(text)
  }
}
