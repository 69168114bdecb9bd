/** A place in a source file, counted from 0; `source` is an index into the map's sources. */
export interface Original {
  readonly source: number
  readonly line: number
  readonly column: number
}

/** A place in generated code, counted from 0. */
export interface Generated {
  readonly line: number
  readonly column: number
}

const digits = new Uint8Array(128)
for (const [value, digit] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries())
  digits[digit.charCodeAt(0)] = value

/** The numbers of one segment, which begins at `at`: base64 with five bits each, the least first (source maps, revision 3). */
function segmentAt(mappings: string, at: number, into: number[]): number {
  let [next, value, shift] = [at, 0, 0]
  into.length = 0
  for (; next < mappings.length; next++) {
    const code = mappings.charCodeAt(next)
    if (code === 0x2c || code === 0x3b) break
    const digit = digits[code] ?? 0
    value |= (digit & 31) << shift
    shift += 5
    if (digit & 32) continue
    into.push(value & 1 ? -(value >>> 1) : value >>> 1)
    value = shift = 0
  }
  return next
}

/**
 * Where places come from, in their order. Reads the mappings up to the last of them and keeps nothing: decoded as a whole,
 * they would take more memory than the program.
 */
export function originalsOf(
  mappings: string,
  places: readonly Generated[],
): readonly (Original | undefined)[] {
  const found: (Original | undefined)[] = places.map(() => undefined)
  const last = Math.max(...places.map(({ line }) => line))
  const numbers: number[] = []
  let [line, column, source, originalLine, originalColumn] = [0, 0, 0, 0, 0]
  let isWanted = places.some(place => place.line === 0)
  for (let at = 0; at < mappings.length && line <= last; at++) {
    at = segmentAt(mappings, at, numbers)
    const [columns = 0, sources, lines = 0, originalColumns = 0] = numbers
    column += columns
    source += sources ?? 0
    originalLine += lines
    originalColumn += originalColumns
    if (isWanted && sources !== undefined)
      for (const [i, place] of places.entries())
        if (place.line === line && place.column >= column)
          found[i] = { source, line: originalLine, column: originalColumn }
    if (mappings.charCodeAt(at) !== 0x3b) continue
    line++
    column = 0
    isWanted = places.some(place => place.line === line)
  }
  return found
}
