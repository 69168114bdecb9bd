import type { IncomingHttpHeaders } from 'node:http'
import type { PeerCertificate } from 'node:tls'
import type { Awaitable } from '../async/awaitable.ts'
import type { ClusterName } from '../meta/object.ts'
import type { UserInfo } from './user.ts'

/** What authentication may look at: headers, and the client certificate if TLS verified it against a client CA. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders
  /** Names and values in turn, as they came (`request.rawHeaders`): identity headers are read only from here. */
  readonly rawHeaders?: readonly string[]
  /** Present only when the TLS layer verified the chain. */
  readonly certificate?: PeerCertificate
}

/**
 * Finds out who asks. `undefined`: no credentials of this kind were presented. Throws `unauthorized()` when credentials
 * were presented and are bad: they never fall through to anonymous (chapter 40, rule 9.2).
 * `cluster`: the logical cluster of the request, where it has one; some users are known in some clusters only.
 */
export interface Authenticator {
  authenticate(credentials: Credentials, cluster?: ClusterName): Awaitable<UserInfo | undefined>
  /** Whether requests without credentials are let in, by their path below the logical cluster. All are when absent. */
  admitsAnonymous?(path: string): boolean
}
