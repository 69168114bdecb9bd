import type { IncomingHttpHeaders } from 'node:http'
import type { Awaitable } from '../async/awaitable.ts'

/** The parts of an HTTP request that verbs read. The body is read on first use. */
export interface VerbRequest {
  readonly method: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** Reads the whole body. Throws `tooLarge` above `limit` bytes, before reading if Content-Length is above. */
  body(limit: number): Promise<Buffer>
  /** Parses a YAML body without blocking other requests; absent: it is parsed at once. */
  readonly yaml?: ParseYaml | undefined
  /** Is told the value of a body that was decoded. */
  readonly decoded?: ((value: unknown) => void) | undefined
}

/** Throws, or rejects with, `SyntaxError`, 413 and 429. `duplicates`: a line for each repeated key. */
export type ParseYaml = (
  text: string,
) => Awaitable<{ readonly value: unknown; readonly duplicates: readonly string[] }>

/**
 * A response. A streamed body is read with back-pressure: the next chunk is read when the socket has accepted the one
 * before. `return()` of the stream is called when the client disconnects.
 */
export interface Answer {
  readonly status: number
  /** '' without a body. */
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body: Buffer | AsyncIterable<Buffer>
  /** Sends headers immediately, before the first chunk (for watches). */
  readonly flush?: boolean
}
