import type { JsonClient, JsonRequest, JsonResponse } from '../../framework/net/jsonclient.ts'

/** How requests prove who the user is. Without a token, the browser sends the client certificate that it has. */
export interface Credential {
  readonly token?: string
}

/** A response other than success; the message is that of the server. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** What `Accept` asks for. */
export const accepts = {
  json: 'application/json',
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  discovery: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json',
} as const

interface ApiRequest {
  readonly accept?: string
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/**
 * The API of this server with the credential of one user. The token is in this object only: not in a cookie, which requests of other
 * pages would have, and not in a storage, which browsers write to disk.
 */
export class Api {
  readonly #credential: Credential
  readonly #expired: () => void

  /** `expired` is called when the server accepts the credential no longer. */
  constructor(credential: Credential, expired: () => void) {
    this.#credential = credential
    this.#expired = expired
  }

  /** Rejects with an `ApiError`. */
  async json<T>(path: string, request: ApiRequest = {}): Promise<T> {
    const response = await this.send(path, request)
    return (await response.json()) as T
  }

  /** Rejects with an `ApiError`. */
  async text(path: string, request: ApiRequest = {}): Promise<string> {
    return (await this.send(path, request)).text()
  }

  /** A client of a logical cluster or a view by its URL at this server. */
  at(server: string): JsonClient {
    const base = new URL(server).pathname.replace(/\/+$/, '')
    return async (path, request = {}) => this.#answer(base + path, request)
  }

  /** The response, with its status below 400. Rejects with an `ApiError`. */
  async send(path: string, request: ApiRequest): Promise<Response> {
    const response = await this.#fetch(path, request)
    if (response.ok) return response
    throw new ApiError(response.status, await messageOf(response))
  }

  async #answer(path: string, { accept, body, signal }: JsonRequest): Promise<JsonResponse> {
    const request = {
      ...(accept !== undefined && { accept }),
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    }
    const response = await this.#fetch(path, request)
    return { status: response.status, body: await response.json().catch(() => undefined) }
  }

  async #fetch(path: string, { accept = accepts.json, body, signal }: ApiRequest): Promise<Response> {
    const { token } = this.#credential
    const response = await fetch(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      // With a token the browser must not also send a certificate, whose user would have precedence.
      credentials: token === undefined ? 'same-origin' : 'omit',
      ...unkept,
    }).catch(error => {
      if (signal?.aborted) throw error
      throw new ApiError(0, 'The server does not respond.')
    })
    if (response.status === 401) this.#expired()
    return response
  }
}

/** Responses have data of tenants: browsers must not write them to disk. */
const unkept = { cache: 'no-store', referrerPolicy: 'no-referrer' } as const

async function messageOf(response: Response): Promise<string> {
  const text = await response.text().catch(() => '')
  try {
    const { message } = JSON.parse(text) as { message?: string }
    if (message !== undefined && message !== '') return message
  } catch {
    // No Status: a proxy or an endpoint in plain text responded.
  }
  return text.trim().slice(0, 300) || `The server responded with status ${response.status}.`
}
