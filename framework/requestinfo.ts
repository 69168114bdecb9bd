/**
 * What a Kubernetes URL asks for, read once from method, path and query (chapter 40, section 1.1).
 * The parser lives in `requestinfo.ts`'s function `parseRequestInfo`; nothing else reads the path.
 */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** A request for a resource: `/api/v1/…` or `/apis/<group>/<version>/…` with at least one more segment. */
export interface ResourceRequest {
  readonly isResource: true
  readonly verb: Verb
  readonly group: string
  readonly version: string
  readonly resource: string
  /** From `widgets:<identityHash>` (chapter 20, section 6.3). */
  readonly identity?: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path: string
}

/** Everything else: discovery, OpenAPI, health, version. `verb` is the lower-case HTTP method. */
export interface NonResourceRequest {
  readonly isResource: false
  readonly verb: string
  readonly path: string
}

export type RequestInfo = ResourceRequest | NonResourceRequest
