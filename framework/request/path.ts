import { decodeSegment, encodeSegment } from './segments.ts'

/** What a view's path captured, by name: `{ path: 'root:org', name: 'widgets' }`. */
export type Params = Readonly<Record<string, string>>

/** The params of a pattern such as `/services/apiexport/:path/:name`. */
export type ParamsOf<S extends string> = S extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: string } & ParamsOf<Rest>
  : S extends `${string}:${infer Name}`
    ? { readonly [K in Name]: string }
    : Params

/** A URL that belongs to a view, taken apart. */
export interface ViewPath<P extends Params = Params> {
  readonly params: P
  /** As written: a name, a colon path (plain endpoint only) or `*`. */
  readonly cluster: string
  /** What follows the cluster segment, starting with `/`; '/' when nothing does. */
  readonly rest: string
}

/** The shape of a view's URLs: `<pattern>/clusters/<cluster>/<kubernetes path>`. One value both reads and writes them. */
export interface PathPattern<P extends Params = Params> {
  readonly pattern: string
  /** undefined: not this view's URL, or malformed (chapter 10, section 1.3). Takes the path without its query, still percent-encoded. */
  parse(path: string): ViewPath<P> | undefined
  /** The URL path without `/clusters/…`, as it is published (chapter 10, section 9). Throws on values that would not parse back. */
  format(params: P): string
}

interface Part {
  readonly text: string
  readonly isParam: boolean
}

/**
 * Builds the pattern of a view: literal segments and `:params`, starting with `/` and not ending with it. The empty
 * pattern is the plain `/clusters/…` endpoint, the only one whose cluster segment may be a path such as
 * `root:org:team`. Throws an `Error` that names what is wrong with the pattern.
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

/** What every URL of the pattern that is written plainly begins with: others are told apart at one look. */
function startOf(pattern: string, parts: readonly Part[]): string {
  const param = parts.findIndex(part => part.isParam)
  return param < 0
    ? `${pattern}/`
    : `/${parts
        .slice(0, param)
        .map(part => `${part.text}/`)
        .join('')}`
}

/** Could one URL belong to both? They need equally many segments that agree wherever both are literal. */
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

/** A cluster name or a path of workspaces, syntactically (chapter 20, section 1.1). `*` is neither. */
export const isClusterPath = (text: string): boolean => clusterPath.test(text)

/** A name needs no resolving: no colon, or a system cluster. */
export const isClusterName = (text: string): boolean =>
  isClusterPath(text) && (!text.includes(':') || text.startsWith('system:'))

const isScope = (text: string): boolean => text === '*' || isClusterName(text)
