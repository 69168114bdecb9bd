import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { originalsOf } from './mappings.ts'

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
