import { isSystemCluster } from '../meta/object.ts'
import { decodeSegment, encodeSegment } from './segments.ts'

/** The path parameters of a view by name: `{ path: 'root:org', name: 'widgets' }`. */
export type Params = Readonly<Record<string, string>>

/** The type of the params of a pattern: `/services/apiexport/:path/:name` gives `{ path: string; name: string }`. */
export type ParamsOf<S extends string> = S extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: string } & ParamsOf<Rest>
  : S extends `${string}:${infer Name}`
    ? { readonly [K in Name]: string }
    : Params

/** The parts of a URL of a view. */
export interface ViewPath<P extends Params = Params> {
  readonly params: P
  /** The cluster segment: a name, `*`, or for `/clusters/…` a workspace path. */
  readonly cluster: string
  /** The path after the cluster segment, starting with `/`. */
  readonly rest: string
}

/** Parses and formats the URLs of a view: `<pattern>/clusters/<cluster>/<kubernetes path>`. */
export interface PathPattern<P extends Params = Params> {
  readonly pattern: string
  /** Parses a percent-encoded path without query; undefined for malformed paths and those of other views. */
  parse(path: string): ViewPath<P> | undefined
  /** The published URL path, without `/clusters/…`. Throws an `Error` for values that cannot be in a path. */
  format(params: P): string
}

interface Part {
  readonly text: string
  readonly isParam: boolean
}

/**
 * Makes the pattern of a view: literal segments and `:params`, with `/` at the start and not at the end. The empty
 * pattern is the `/clusters/…` endpoint, the only one whose cluster segment may be a workspace path such as
 * `root:org:team`. Throws an `Error` for a malformed pattern.
 */
export function pathPattern<const S extends string>(pattern: S): PathPattern<ParamsOf<S>> {
  const parts = partsOf(pattern)
  const start = startOf(pattern, parts)
  return {
    pattern,
    parse: path =>
      path.startsWith(start) ? (parseWith(parts, path) as ViewPath<ParamsOf<S>> | undefined) : undefined,
    format: params => parts.map(part => `/${segmentOf(part, params)}`).join(''),
  }
}

/** The literal prefix of the pattern's URLs, for a fast check. */
function startOf(pattern: string, parts: readonly Part[]): string {
  const param = parts.findIndex(part => part.isParam)
  return param < 0
    ? `${pattern}/`
    : `/${parts
        .slice(0, param)
        .map(part => `${part.text}/`)
        .join('')}`
}

/** Whether a URL can match both patterns: they have equally many segments, and the same literals where both have one. */
export function overlaps(a: string, b: string): boolean {
  const left = partsOf(a)
  const right = partsOf(b)
  return left.length === right.length && left.every((part, i) => mayEqual(part, right[i]))
}

const mayEqual = (a: Part, b: Part | undefined): boolean =>
  b === undefined || a.isParam || b.isParam || a.text === b.text

const literal = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/
const param = /^:[a-zA-Z][a-zA-Z0-9]*$/

function partsOf(pattern: string): readonly Part[] {
  if (pattern === '') return []
  if (!pattern.startsWith('/')) throw new Error(`path pattern "${pattern}" must start with "/"`)
  const segments = pattern.slice(1).split('/')
  for (const segment of segments) checkSegment(pattern, segment, segments)
  return segments.map(s => ({ text: s.replace(/^:/, ''), isParam: s.startsWith(':') }))
}

function checkSegment(pattern: string, segment: string, all: readonly string[]): void {
  if (!literal.test(segment) && !param.test(segment)) {
    throw new Error(`path pattern "${pattern}" has the malformed segment "${segment}"`)
  }
  if (segment === 'clusters') throw new Error(`path pattern "${pattern}" must not contain "clusters"`)
  if (segment.startsWith(':') && all.filter(s => s === segment).length > 1) {
    throw new Error(`path pattern "${pattern}" names "${segment}" twice`)
  }
}

function segmentOf(part: Part, params: Params): string {
  if (!part.isParam) return part.text
  const value = params[part.text]
  if (value === undefined) throw new Error(`the path needs a value for "${part.text}"`)
  return encodeSegment(value)
}

function parseWith(parts: readonly Part[], path: string): ViewPath | undefined {
  const [first, ...segments] = path.split('/')
  if (first !== '' || segments[parts.length] !== 'clusters') return undefined
  const params = paramsIn(parts, segments)
  const cluster = decodeSegment(segments[parts.length + 1] ?? '')
  if (params === undefined || cluster === undefined) return undefined
  if (parts.length > 0 && !isScope(cluster)) return undefined
  return { params, cluster, rest: `/${segments.slice(parts.length + 2).join('/')}` }
}

function paramsIn(parts: readonly Part[], segments: readonly string[]): Params | undefined {
  const params: Record<string, string> = {}
  for (const [i, part] of parts.entries()) {
    const text = decodeSegment(segments[i] ?? '')
    if (text === undefined) return undefined
    if (part.isParam) params[part.text] = text
    else if (part.text !== text) return undefined
  }
  return params
}

const clusterPath = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(:[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/

/** Whether a text is a cluster name or a workspace path, such as `root:org` (kcp `logicalcluster.Path.IsValid`). `*` is neither. */
export const isClusterPath = (text: string): boolean => clusterPath.test(text)

/** Whether a text is a cluster name: without a colon, or of a system cluster. */
export const isClusterName = (text: string): boolean =>
  (!text.includes(':') || isSystemCluster(text)) && isClusterPath(text)

const isScope = (text: string): boolean => text === '*' || isClusterName(text)
