import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface SourceMap {
  readonly sources: readonly string[]
  readonly mappings: string
}

/**
 * Makes stack traces name the sources of a bundle, by the source map in the same directory. The map is read when a stack
 * is formatted, and only the positions found are kept; Node's `--enable-source-maps` keeps the whole map in memory.
 * Errors that end streams and requests name the bundle: Node formats the stack of each one when it destroys a stream
 * (`lib/internal/streams/destroy.js`, checkError), and grpc-js those of each call that fails and of its caller (`call.js`,
 * callErrorFromStatus). Nothing prints them, and to read the map takes 100 ms.
 */
export function mapStackTraces(bundle: string): void {
  const known = new Map<string, string>()
  const isInBundle = (site: NodeJS.CallSite): boolean => site.getFileName() === bundle
  const describe = (site: NodeJS.CallSite): string => {
    const position = positionOf(site)
    return isInBundle(site)
      ? `${site}`.replace(`${bundle}:${position}`, known.get(position) ?? '$&')
      : `${site}`
  }
  Error.prepareStackTrace = (error, sites) => {
    const isUnknown = (site: NodeJS.CallSite): boolean => isInBundle(site) && !known.has(positionOf(site))
    const missing = isUnprinted(error) ? [] : sites.filter(isUnknown)
    if (missing.length > 0)
      for (const [position, source] of sourcesOf(bundle, missing)) known.set(position, source)
    return [`${error}`, ...sites.map(site => `    at ${describe(site)}`)].join('\n')
  }
}

/** An aborted request, a lost connection, or a Status: errors with a code. Node's TypeErrors and RangeErrors have one, too. */
const isUnprinted = (error: Error): boolean =>
  error.name === 'AbortError' ||
  ('code' in error && !(error instanceof TypeError || error instanceof RangeError)) ||
  ofCall.test(error.message)

/** grpc-js adds the code later: `14 UNAVAILABLE: No connection established`; its caller has no message. */
const ofCall = /^$|^\d+ [A-Z_]+: /

const positionOf = (site: NodeJS.CallSite): string => `${site.getLineNumber()}:${site.getColumnNumber()}`

/** Source positions by positions in the bundle; a position without a mapping maps to itself. */
function sourcesOf(bundle: string, sites: readonly NodeJS.CallSite[]): ReadonlyMap<string, string> {
  const { sources, mappings } = JSON.parse(readFileSync(`${bundle}.map`, 'utf8')) as SourceMap
  const positions = sites.map(site => ({
    line: (site.getLineNumber() ?? 1) - 1,
    column: (site.getColumnNumber() ?? 1) - 1,
  }))
  const named = sourcePositionsOf(mappings, positions).map((found, i): [string, string] => {
    const position = positionOf(sites[i] as NodeJS.CallSite)
    const source = found && sources[found.source]
    if (found === undefined || source === undefined) return [position, `${bundle}:${position}`]
    return [position, `${join(dirname(bundle), source)}:${found.line + 1}:${found.column + 1}`]
  })
  return new Map(named)
}

/** A position in a source file, counted from 0; `source` is an index into the sources of the map. */
export interface SourcePosition {
  readonly source: number
  readonly line: number
  readonly column: number
}

/** A position in generated code, counted from 0. */
export interface GeneratedPosition {
  readonly line: number
  readonly column: number
}

const digits = new Uint8Array(128)
for (const [value, digit] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries())
  digits[digit.charCodeAt(0)] = value

/** Decodes the base64 VLQ numbers of the segment at `at` (ECMA-426) and returns its end. */
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
 * The source position of each generated position. Decodes the mappings up to the last position and keeps nothing: all
 * mappings decoded would take more memory than the program.
 */
export function sourcePositionsOf(
  mappings: string,
  positions: readonly GeneratedPosition[],
): readonly (SourcePosition | undefined)[] {
  const found: (SourcePosition | undefined)[] = positions.map(() => undefined)
  const last = Math.max(...positions.map(({ line }) => line))
  const numbers: number[] = []
  let [line, column, source, originalLine, originalColumn] = [0, 0, 0, 0, 0]
  let isWanted = positions.some(position => position.line === 0)
  for (let at = 0; at < mappings.length && line <= last; at++) {
    at = segmentAt(mappings, at, numbers)
    const [columns = 0, sources, lines = 0, originalColumns = 0] = numbers
    column += columns
    source += sources ?? 0
    originalLine += lines
    originalColumn += originalColumns
    if (isWanted && sources !== undefined)
      for (const [i, position] of positions.entries())
        if (position.line === line && position.column >= column)
          found[i] = { source, line: originalLine, column: originalColumn }
    if (mappings.charCodeAt(at) !== 0x3b) continue
    line++
    column = 0
    isWanted = positions.some(position => position.line === line)
  }
  return found
}
