import type { Awaitable } from '../async/awaitable.ts'
import type { ApiSet } from './apis.ts'

/** A rendered document; `etag` is the hash of its content (rules.md 8.16 to 8.20). */
export interface Document {
  readonly bytes: Buffer
  readonly etag: string
}

/** Renders the OpenAPI documents of an ApiSet, in turns; implemented in `openapi/`. Documents are cached by ApiSet. */
export interface OpenApiDocuments {
  /** The paths below `/openapi/v3`, such as `apis/example.com/v1`, `api/v1` and `version`, with their etags. */
  index(apis: ApiSet): Awaitable<ReadonlyMap<string, string>>
  v3(apis: ApiSet, path: string): Awaitable<Document | undefined>
  v2(apis: ApiSet): Awaitable<Document>
  /** The v2 document in protobuf, which client-go requests (rules.md 8.17). */
  v2Protobuf(apis: ApiSet): Awaitable<Document>
}
