import type { ApiSet } from './apis.ts'

/** One rendered document; `etag` is the hash of its content (chapter 40, rules 8.16–8.20). */
export interface Document {
  readonly bytes: Buffer
  readonly etag: string
}

/** OpenAPI documents of an ApiSet. The kernel serves them, `openapi/` renders them; kept by ApiSet, made on first use. */
export interface OpenApiDocuments {
  /** Paths of `/openapi/v3` to their etags: `apis/example.com/v1`, `api/v1`, `version`. */
  index(apis: ApiSet): ReadonlyMap<string, string>
  v3(apis: ApiSet, path: string): Document | undefined
  v2(apis: ApiSet): Document
  /** The same as protobuf, for clients that ask for nothing else (chapter 40, rule 8.17). */
  v2Protobuf(apis: ApiSet): Document
}
