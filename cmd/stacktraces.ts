import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * Lets stack traces name the sources of a bundle, by the source map that lies beside it. The map is read when the first
 * trace is looked at; Node's own way (`--enable-source-maps`) reads it at every start.
 */
export function mapStackTraces(bundle: string): void {
  let map: SourceMap | undefined
  const sourceOf = (line: number, column: number): string | undefined => {
    map ??= new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8')))
    const found = map.findEntry(line - 1, column - 1)
    if (!('originalSource' in found)) return undefined
    const { originalSource, originalLine, originalColumn } = found
    return `${join(dirname(bundle), originalSource)}:${originalLine + 1}:${originalColumn + 1}`
  }
  const describe = (site: NodeJS.CallSite): string => {
    const [line, column] = [site.getLineNumber(), site.getColumnNumber()]
    if (site.getFileName() !== bundle || line === null || column === null) return `${site}`
    const source = sourceOf(line, column)
    return source === undefined ? `${site}` : `${site}`.replace(`${bundle}:${line}:${column}`, source)
  }
  Error.prepareStackTrace = (error, sites) =>
    [`${error}`, ...sites.map(site => `    at ${describe(site)}`)].join('\n')
}
