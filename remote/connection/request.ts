import type { HeaderMap } from '../../framework/net/headers.ts'

/** What a shard is asked. */
export interface ShardRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query. */
  readonly target: string
  readonly headers?: HeaderMap
  readonly body?: string | Buffer
  readonly signal: AbortSignal
}
