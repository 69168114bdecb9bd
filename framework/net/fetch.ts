import { waitOutside } from '../async/turn.ts'
import { textIn } from './bodies.ts'
import {
  createClient,
  type HttpClient,
  type HttpClientOptions,
  type OutgoingRequest,
  type OutgoingResponse,
} from './client.ts'

/** A response that was read completely. */
export interface TextResponse {
  readonly status: number
  readonly headers: OutgoingResponse['headers']
  readonly text: string
}

/** Bytes and milliseconds. */
export interface ReadLimits {
  /** Longer bodies are an error. */
  readonly bytes: number
  readonly timeout: number
}

/** Sends a request and reads the whole response. Rejects also when the limits are exceeded. */
export async function fetchText(
  client: HttpClient,
  request: Omit<OutgoingRequest, 'signal'> & { readonly signal?: AbortSignal },
  limits: ReadLimits,
): Promise<TextResponse> {
  const deadline = AbortSignal.timeout(limits.timeout)
  const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline])
  const goOn = waitOutside()
  const { statusCode: status, headers, body } = await client.request({ ...request, signal })
  const text = await textIn(body, limits.bytes)
  goOn()
  return { status, headers, text }
}

/** `fetchText` of an absolute URL over a new connection. */
export async function fetchOnce(
  url: string,
  request: Omit<OutgoingRequest, 'signal' | 'origin' | 'path'> & { readonly signal?: AbortSignal },
  { limits, ...options }: HttpClientOptions & { readonly limits: ReadLimits },
): Promise<TextResponse> {
  const { origin, pathname, search } = new URL(url)
  const client = createClient({ ...options, keepAlive: 0 })
  try {
    return await fetchText(client, { ...request, origin, path: pathname + search }, limits)
  } finally {
    void client.destroy()
  }
}
