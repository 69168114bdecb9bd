import { request } from 'node:https'

/** A call to a webhook. */
export interface Post {
  readonly url: string
  readonly body: string
  /** PEM; the system's authorities when undefined. */
  readonly ca: Buffer | undefined
  readonly seconds: number
  readonly signal: AbortSignal
}

const largest = 8 * 1024 * 1024

/**
 * Posts JSON over HTTPS and returns the text of a good answer. Redirects are not followed. Rejects with what went wrong in
 * words for the client.
 */
export function postJson({ url, body, ca, seconds, signal }: Post): Promise<string> {
  const target = new URL(url)
  target.searchParams.set('timeout', `${seconds}s`)
  const fail = (why: string): Error =>
    new Error(`failed to call webhook: Post ${JSON.stringify(String(target))}: ${why}`)
  const deadline = AbortSignal.timeout(seconds * 1000)
  return new Promise((resolve, reject) => {
    const call = request(target, {
      method: 'POST',
      signal: AbortSignal.any([signal, deadline]),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'content-length': Buffer.byteLength(body),
      },
      ...(ca === undefined ? {} : { ca }),
      agent: false,
    })
    const wrong = (error: Error): void =>
      reject(fail(deadline.aborted ? 'context deadline exceeded' : error.message))
    call.on('error', wrong)
    call.on('response', response => {
      const chunks: Buffer[] = []
      let length = 0
      response.on('error', wrong)
      response.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > largest) call.destroy(new Error('the answer is too large'))
        else chunks.push(chunk)
      })
      response.on('end', () => {
        const { statusCode = 0 } = response
        if (statusCode >= 200 && statusCode < 300) resolve(Buffer.concat(chunks).toString())
        else
          reject(new Error(`failed to call webhook: the server responded with the status code ${statusCode}`))
      })
    })
    call.end(body)
  })
}
