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

/** Everything of a context but its signal, which is found by asking. */
export type ContextParts = Omit<RequestContext, 'signal' | 'requestor'> & {
  readonly requestor: UserInfo | undefined
  /** Its signal is made when somebody asks for it. */
  readonly lifetime: { readonly signal: AbortSignal }
}

/** A class, because the accessor of an object literal is made anew each time, which costs more than all the rest. */
class Context implements RequestContext {
  readonly workspace: string
  readonly params: Params
  readonly cluster: ClusterScope
  readonly info: RequestInfo
  readonly user: UserInfo
  readonly requestor?: UserInfo
  readonly actAs: UserInfo
  readonly hops: number
  readonly deepReview: boolean
  readonly record: Recorder
  readonly lifetime: ContextParts['lifetime']

  constructor(parts: ContextParts) {
    this.workspace = parts.workspace
    this.params = parts.params
    this.cluster = parts.cluster
    this.info = parts.info
    this.user = parts.user
    if (parts.requestor !== undefined) this.requestor = parts.requestor
    this.actAs = parts.actAs
    this.hops = parts.hops
    this.deepReview = parts.deepReview ?? false
    this.record = parts.record
    this.lifetime = parts.lifetime
    Object.freeze(this)
  }

  get signal(): AbortSignal {
    return this.lifetime.signal
  }
}

export const createContext = (parts: ContextParts): RequestContext => new Context(parts)

/** The same request with some things changed. Spreading a context would lose its signal. */
export const contextWith = <P extends Params>(
  ctx: RequestContext<P>,
  changes: Partial<RequestContext<P>>,
): RequestContext<P> => Object.freeze(Object.assign(Object.create(Object.getPrototypeOf(ctx)), ctx, changes))
