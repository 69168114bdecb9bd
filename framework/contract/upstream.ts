import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Lifetime } from '../async/lifetime.ts'
import type { HttpRequest, Incoming } from '../request/incoming.ts'

/** A connection whose client asked to speak another protocol, and what came behind the request already. */
export interface Upgrade {
  readonly socket: Duplex
  readonly head: Buffer
}

/** The client's side of an exchange, raw: what is passed on is neither read nor written by the server itself. */
export interface ClientSide {
  readonly request: HttpRequest
  readonly response: ServerResponse
  readonly upgrade?: Upgrade
  readonly lifetime: Lifetime
}

/**
 * An answer that comes from elsewhere and is passed through as it comes, in both directions, with back-pressure.
 * Resolves when it is over. Rejects with a `StatusError` as long as nothing has been sent; what fails later is cut off.
 */
export interface Passage {
  readonly pass: (client: ClientSide) => Promise<void>
}

/** Names and values as they are sent; several values are several lines. */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>

/** A server outside this process. */
export interface Endpoint {
  /** Absolute; requests go below its path. A query or a fragment is refused. */
  readonly url: string
  /** PEM. Without `ca` the operating system's authorities are believed. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  /** Credentials and whom to act for. Nothing that the client sent as such is passed on. */
  readonly headers?: HeaderFields
}

/** A request to be passed on. */
export interface Departure {
  readonly incoming: Incoming
  readonly endpoint: Endpoint
  /** Below the endpoint, percent-encoded as it came, starting with `/` or empty. */
  readonly path: string
  /** What clients call the endpoint, for the redirects it answers with: `/clusters/root:remote`. */
  readonly seenAs: string
}

/** A whole small answer. */
export interface Glimpse {
  readonly status: number
  /** At most 64 KiB of it. */
  readonly body: string
}

/** The way to servers of others; `proxy/` implements it. */
export interface Outbound {
  /** Throws a `StatusError` for endpoints that must not be reached. */
  passage(departure: Departure): Passage
  /** One GET. Throws a `StatusError` for endpoints that must not be or cannot be reached. */
  look(endpoint: Endpoint, path: string, signal: AbortSignal): Promise<Glimpse>
  /** What is wrong with the URL of an endpoint, in one sentence; undefined when it may be reached. */
  problemOf(url: string): string | undefined
}
