import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { authoritiesProblem } from '../../framework/net/authorities.ts'
import { fetchOnce } from '../../framework/net/fetch.ts'

/** A call to a webhook. */
export interface WebhookCall {
  readonly url: string
  /** JSON, in parts that are not copied. */
  readonly body: readonly Buffer[]
  /** PEM, base64. Without it the certificate authorities of the operating system are trusted. */
  readonly caBundle: string | undefined
  readonly seconds: number
  readonly signal: AbortSignal
  /** Bytes of the response. Default: 8 MiB. */
  readonly most?: number
  /** The address policy. */
  readonly lookup: LookupFunction
}

const largest = 8 * 1024 * 1024

/** Bytes that are written at once. A webhook that does not read them costs no memory for the others. */
const atOnce = 64 * 1024

function* pieces(parts: readonly Buffer[]): Generator<Buffer> {
  for (const part of parts)
    for (let at = 0; at < part.length; at += atOnce) yield part.subarray(at, at + atOnce)
}

/**
 * Posts JSON over HTTPS and returns the text of a successful response. Rejects with the message that Go's client gives
 * (`net/http` Client.Do, `k8s.io/client-go/rest` Result.Into).
 */
export async function postJson(call: WebhookCall): Promise<string> {
  const { url, body, seconds, signal, lookup, most = largest } = call
  const ca = authorityOf(call)
  const target = new URL(url)
  target.searchParams.set('timeout', `${seconds}s`)
  const length = body.reduce((sum, part) => sum + part.length, 0)
  const response = await fetchOnce(
    target.href,
    {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'content-length': String(length),
      },
      body: length > atOnce ? Readable.from(pieces(body)) : Buffer.concat(body),
      signal,
    },
    {
      lookup,
      headersTimeout: 0,
      connectTimeout: 0,
      limits: { bytes: most, timeout: seconds * 1000 },
      ...(ca !== undefined && { tls: { ca } }),
    },
  ).catch((error: Error) => {
    const requested = `${url}${target.pathname === '/' && !url.endsWith('/') ? '/' : ''}${target.search}`
    throw new Error(`Post ${JSON.stringify(requested)}: ${dialText(error)}`)
  })
  if (response.status >= 200 && response.status < 300) return response.text
  throw new Error(refusalText(response.status))
}

function authorityOf({ caBundle }: WebhookCall): string | undefined {
  const pem = caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString()
  const problem = pem === undefined ? undefined : authoritiesProblem(pem)
  if (problem !== undefined) throw new Error(`the caBundle ${problem}`)
  return pem
}

/** The error text of Go for an unreachable server. */
function dialText(error: Error & { readonly code?: string; readonly address?: string }): string {
  const { code, message } = error
  const { hostname, address, port } = error as { hostname?: string; address?: string; port?: number }
  if (error.name === 'TimeoutError') return 'context deadline exceeded'
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

/**
 * The error text of Go's clients for a status code (`k8s.io/apimachinery/pkg/api/errors` NewGenericServerResponse).
 */
function refusalText(code: number): string {
  if (code >= 500 && refusals[code] === undefined)
    return 'an error on the server ("unknown") has prevented the request from succeeding'
  return (
    refusals[code] ?? `the server responded with the status code ${code} but did not return more information`
  )
}

/** Characters of a text of a webhook that clients get. */
const longest = 32 * 1024

/** The beginning of a text of a webhook. */
export const brief = (text: string): string => text.slice(0, longest)
