import type { StatusError } from '../meta/errors.ts'
import type { ClusterScope } from '../meta/object.ts'
import type { Incoming } from '../request/incoming.ts'
import type { UserInfo } from '../request/user.ts'
import type { RequestContext } from './context.ts'
import type { Forwarding } from './upstream.ts'

/** The user and logical cluster of a call: the requests of one user cannot open the circuit breaker for others. */
export interface Caller {
  readonly cluster: ClusterScope
  readonly user: UserInfo
}

/** An authenticated request for a view in another process. */
export interface IsolatedRequest {
  readonly incoming: Incoming
  /** The authenticated user, before impersonation, which the process repeats. */
  readonly user: UserInfo
  /** A part of the response was received. */
  readonly sent: (chunk: Buffer) => void
}

/** Checks and reports of the server for the view of a plugin, which may fail in every way. */
export interface PluginSupervisor {
  /** The module of the plugin: its absolute path. */
  readonly origin: { readonly file: string }
  /** The 503 for a user for whom the view keeps failing in a logical cluster; undefined: the view is called. */
  refusal(caller: Caller): StatusError | undefined
  /** The context that the view gets: it reports failures, and changes of the user have no effect. */
  context(ctx: RequestContext): RequestContext
  /** The error for the client of a request to the view that failed with `error`, which is logged and counted. */
  failure(error: unknown, ctx: RequestContext | undefined): unknown
  /** Passes a request on to the process of the view, which authorizes and answers it. Absent for views in this process. */
  readonly forwarding?: (request: IsolatedRequest) => Forwarding
  /** Whether the view did not fail lately. */
  isHealthy(): boolean
  /** Logs that the view is not ready, and what its author can do. */
  notReady(why: string): void
}
