import type { IncomingHttpHeaders } from 'node:http'

/** The parts of an HTTP request that verbs read; the body is read at most once, on demand. */
export interface VerbRequest {
  readonly method: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The whole body. Throws `tooLarge` above `limit` bytes, before reading where Content-Length tells. */
  body(limit: number): Promise<Buffer>
}

/**
 * What a verb answers. A stream is pulled with back-pressure: one chunk is written, and the next is asked for when the
 * socket has taken it. Its `return()` runs when the client leaves.
 */
export interface Answer {
  readonly status: number
  /** '' for answers without a body. */
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body: Buffer | AsyncIterable<Buffer>
  /** Sends headers at once, before the first chunk exists (watch). */
  readonly flush?: boolean
}
