import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Lifetime } from '../async/lifetime.ts'
import type { HttpRequest, Incoming } from '../request/incoming.ts'
import type { MountIdentity } from './workspacetree.ts'

/** The connection of an upgrade request, and the bytes after the request. */
export interface Upgrade {
  readonly socket: Duplex
  readonly head: Buffer
}

/** The client's request with unread body, and the response with nothing sent. */
export interface ClientSide {
  readonly request: HttpRequest
  readonly response: ServerResponse
  readonly upgrade?: Upgrade
  readonly lifetime: Lifetime
}

/**
 * A request that another server answers. Both bodies are streamed, with back-pressure. `forward` resolves when the
 * response has ended. It rejects with a `StatusError` as long as nothing was sent to the client; after a later failure
 * the client's connection is closed.
 */
export interface Forwarding {
  readonly forward: (client: ClientSide) => Promise<void>
}

/** Header names and values; several values are several header lines. */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>

/** A server outside this process. */
export interface UpstreamEndpoint {
  /** Absolute; requests go below its path. A query or a fragment is refused. */
  readonly url: string
  /** PEM. Without `ca` the certificate authorities of the operating system are trusted. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  /** Credentials and impersonation headers. */
  readonly headers?: HeaderFields
}

/** A request to forward. */
export interface UpstreamRequest {
  readonly incoming: Incoming
  readonly endpoint: UpstreamEndpoint
  /** Below the endpoint, percent-encoded as received, starting with `/` or empty. */
  readonly path: string
  /** `Forward` sends the bearer token of the client to hosts that the operator lists. Throws 503 for other hosts. */
  readonly identity?: MountIdentity
  /** The path under which clients reach the endpoint, for `Location` headers: `/clusters/root:remote`. */
  readonly seenAs: string
}

/** A small response, read completely. */
export interface UpstreamResponse {
  readonly status: number
  /** At most 64 KiB of it. */
  readonly body: string
}

/** Requests to servers that tenants name. `framework/net` implements it. */
export interface Outbound {
  /** Throws a `StatusError` for endpoints that the address policy refuses. */
  forwarding(request: UpstreamRequest): Forwarding
  /** Sends one GET. Throws a `StatusError` for endpoints that the address policy refuses or that cannot be reached. */
  get(endpoint: UpstreamEndpoint, path: string, signal: AbortSignal): Promise<UpstreamResponse>
  /**
   * Why the address policy refuses a URL, or the token of the client for it, with the flag that changes that; undefined
   * when it allows the URL, and for a host that is unknown. Looks up the host.
   */
  refusalOf(url: string, identity?: MountIdentity): Promise<string | undefined>
}
