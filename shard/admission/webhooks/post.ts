import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { LookupFunction } from 'node:net'

/** A call to a webhook. */
export interface Post {
  readonly url: string
  readonly body: string
  /** PEM; the system's authorities when undefined. */
  readonly ca: Buffer | undefined
  readonly seconds: number
  readonly signal: AbortSignal
  /** Finds the addresses of the host. */
  readonly lookup: LookupFunction
}

const largest = 8 * 1024 * 1024

const late = 'context deadline exceeded'

/** An answer that came, and is none. */
class BadAnswer extends Error {}

/**
 * Posts JSON over HTTPS and returns the text of a good answer. Redirects are not followed. Rejects with what went wrong in
 * words for the client.
 */
export function postJson({ url, body, ca, seconds, signal, lookup }: Post): Promise<string> {
  const target = new URL(url)
  target.searchParams.set('timeout', `${seconds}s`)
  const fail = (why: string): Error =>
    new Error(`failed to call webhook: Post ${JSON.stringify(String(target))}: ${why}`)
  const deadline = AbortSignal.timeout(seconds * 1000)
  return new Promise((resolve, reject) => {
    const call = request(target, {
      method: 'POST',
      signal: AbortSignal.any([signal, deadline]),
      lookup,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'content-length': Buffer.byteLength(body),
      },
      ...(ca === undefined ? {} : { ca }),
      agent: false,
    })
    const wrong = (error: Error): void => {
      call.destroy()
      reject(error instanceof BadAnswer ? error : fail(deadline.aborted ? late : error.message))
    }
    call.on('error', wrong)
    call.on('response', response => void read(response).then(resolve, wrong))
    call.end(body)
  })
}

async function read(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > largest) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  const { statusCode = 0 } = response
  if (statusCode >= 200 && statusCode < 300) return Buffer.concat(chunks).toString()
  throw new BadAnswer(`failed to call webhook: the server responded with the status code ${statusCode}`)
}
