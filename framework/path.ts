import type { Params } from './context.ts'
import type { ClusterScope } from './object.ts'

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

export type { ClusterScope }
