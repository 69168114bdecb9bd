import type { ClusterScope } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import type { UserInfo } from '../request/user.ts'
import type { Decision } from './authorizer.ts'
import type { Logger } from './log.ts'

/** What a request leaves behind besides its answer. Collecting never fails and never blocks. */
export interface Recorder {
  /** Sent to the client as `Warning: 299 - "…"` while headers are open (chapter 40, rule 1.53). */
  warn(text: string): void
  /** An audit annotation. */
  annotate(key: string, value: string): void
  /** What was decided, and why: of the request itself, or of a review that it asks for. For the audit log. */
  decided?(domain: DecisionDomain, decision: Decision): void
  readonly log: Logger
}

/** What a decision is about, as kcp's audit annotations name it. */
export type DecisionDomain = 'request.auth.kcp.io' | 'sar.auth.kcp.io'

/**
 * One request. Built once by the server, frozen, passed explicitly; there is no bag and no lookup by key. Changed by
 * `contextWith`: what spreads it has no signal.
 */
export interface RequestContext<P extends Params = Params> {
  /** The view that answers: 'apiexport'; '' is the plain `/clusters/…` endpoint. */
  readonly workspace: string
  readonly params: P
  readonly cluster: ClusterScope
  readonly info: RequestInfo
  /** Who asks. */
  readonly user: UserInfo
  /** Who really asks, where `user` is impersonated. */
  readonly requestor?: UserInfo
  /** Whose rights apply in the backend; `user` unless the view says otherwise. */
  readonly actAs: UserInfo
  /** Forwards so far (chapter 10, section 1.13). */
  readonly hops: number
  /** Asks an access review to look past what guards the workspace (chapter 30, section 2.8, deep SAR). */
  readonly deepReview?: boolean
  /** Aborted when the client is gone, the deadline passed, the definition was replaced, or the server stops. */
  readonly signal: AbortSignal
  readonly record: Recorder
}
