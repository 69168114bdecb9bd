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
  const asked = `${url}${target.pathname === '/' && !url.endsWith('/') ? '/' : ''}${target.search}`
  const fail = (why: string): Error => new Error(`Post ${JSON.stringify(asked)}: ${why}`)
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
      reject(error instanceof BadAnswer ? error : fail(deadline.aborted ? late : dialText(error)))
    }
    call.on('error', wrong)
    call.on('response', response => void read(response).then(resolve, wrong))
    call.end(body)
  })
}

/** What Go says of a server that cannot be reached. */
function dialText(error: Error & { readonly code?: string; readonly address?: string }): string {
  const { code, message } = error
  const { hostname, address, port } = error as { hostname?: string; address?: string; port?: number }
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`
  if (code === 'ECONNREFUSED') return `dial tcp ${address}:${port}: connect: connection refused`
  return message
}

const refusals: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}

/** What Go's clients say of a status code. */
function refusalText(code: number): string {
  if (code >= 500 && refusals[code] === undefined)
    return 'an error on the server ("unknown") has prevented the request from succeeding'
  return (
    refusals[code] ?? `the server responded with the status code ${code} but did not return more information`
  )
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
  throw new BadAnswer(refusalText(statusCode))
}
