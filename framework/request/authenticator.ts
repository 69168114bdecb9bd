import type { IncomingHttpHeaders } from 'node:http'
import type { PeerCertificate } from 'node:tls'
import type { Awaitable } from '../async/awaitable.ts'
import type { ClusterName } from '../meta/object.ts'
import type { UserInfo } from './user.ts'

/** The credentials of a request: headers, and the client certificate if a client CA issued it. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders
  /** Names and values in turn (`request.rawHeaders` of Node): the source of identity headers. */
  readonly rawHeaders?: readonly string[]
  /** Only if TLS verified the chain. */
  readonly certificate?: PeerCertificate
  /** The address of the client; of IPv6 the network, since one client has all its addresses. */
  readonly source?: string
}

/**
 * Authenticates requests. Returns undefined without credentials of its kind. Throws `unauthorized()` for invalid
 * credentials, which are never treated as anonymous (rules.md 9.2). `cluster`: the logical cluster of the request, if
 * any, for users that exist in some clusters only.
 */
export interface Authenticator {
  authenticate(credentials: Credentials, cluster?: ClusterName): Awaitable<UserInfo | undefined>
  /** Whether requests without credentials are accepted, by path below the logical cluster. Default: all are. */
  admitsAnonymous?(path: string): boolean
}
