import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface SourceMap {
  readonly sources: readonly string[]
  readonly mappings: string
}

/**
 * Lets stack traces name the sources of a bundle, by the source map that lies beside it. The map is read when a trace is
 * looked at, which streams do with every error that ends them, and what was found is kept; Node's own way
 * (`--enable-source-maps`) reads it at every start, and keeps all of it.
 */
export function mapStackTraces(bundle: string): void {
  const known = new Map<string, string>()
  const isOurs = (site: NodeJS.CallSite): boolean => site.getFileName() === bundle
  const describe = (site: NodeJS.CallSite): string => {
    const place = placeOf(site)
    return isOurs(site) ? `${site}`.replace(`${bundle}:${place}`, known.get(place) ?? '$&') : `${site}`
  }
  Error.prepareStackTrace = (error, sites) => {
    const missing = sites.filter(site => isOurs(site) && !known.has(placeOf(site)))
    if (missing.length > 0) for (const [place, source] of sourcesOf(bundle, missing)) known.set(place, source)
    return [`${error}`, ...sites.map(site => `    at ${describe(site)}`)].join('\n')
  }
}

const placeOf = (site: NodeJS.CallSite): string => `${site.getLineNumber()}:${site.getColumnNumber()}`

/** The place in the sources by the place in the bundle; itself where it comes from nowhere. */
function sourcesOf(bundle: string, sites: readonly NodeJS.CallSite[]): ReadonlyMap<string, string> {
  const { sources, mappings } = JSON.parse(readFileSync(`${bundle}.map`, 'utf8')) as SourceMap
  const places = sites.map(site => ({
    line: (site.getLineNumber() ?? 1) - 1,
    column: (site.getColumnNumber() ?? 1) - 1,
  }))
  const named = originalsOf(mappings, places).map((found, i): [string, string] => {
    const place = placeOf(sites[i] as NodeJS.CallSite)
    const source = found && sources[found.source]
    if (found === undefined || source === undefined) return [place, `${bundle}:${place}`]
    return [place, `${join(dirname(bundle), source)}:${found.line + 1}:${found.column + 1}`]
  })
  return new Map(named)
}

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
