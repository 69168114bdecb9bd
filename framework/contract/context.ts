import type { ClusterScope } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import type { UserInfo } from '../request/user.ts'
import type { Decision } from './authorizer.ts'
import type { Logger } from './log.ts'
import type { MemberReports } from './viewfailure.ts'

/** Collects warnings, audit annotations and log lines of a request. Never fails and never blocks. */
export interface Recorder {
  /** Sent to the client as `Warning: 299 - "…"` if the headers were not sent yet (rules.md 1.53). */
  warn(text: string): void
  /** An audit annotation. */
  annotate(key: string, value: string): void
  /** A decision about the request, or about the one in an access review. For the audit log. */
  decided?(domain: DecisionDomain, decision: Decision): void
  /** In requests to views of plugins. */
  readonly calls?: MemberReports
  readonly log: Logger
}

/** The prefix of kcp's audit annotations for a decision: the request itself, or an access review. */
export type DecisionDomain = 'request.auth.kcp.io' | 'sar.auth.kcp.io'

/**
 * The context of one request: the user, the URL and the lifetime. Frozen. Do not spread it, because `signal` is an
 * accessor.
 */
export interface RequestContext<P extends Params = Params> {
  /** The name of the view, such as 'apiexport'; '' for the `/clusters/…` endpoint. */
  readonly workspace: string
  /** The parameters of the view's path. */
  readonly params: P
  /** The logical cluster in the URL, or `*`. */
  readonly cluster: ClusterScope
  readonly info: RequestInfo
  /** The user, after impersonation. */
  readonly user: UserInfo
  /** The authenticated user, if `user` is impersonated. */
  readonly requestor?: UserInfo
  /** The user for requests to the backend: `user`, or the result of the view's `actAs`. */
  readonly actAs: UserInfo
  /** The number of servers that forwarded the request. */
  readonly hops: number
  /** Access reviews skip the checks of access to the workspace (kcp `pkg/authorization`, deep SubjectAccessReview). */
  readonly deepReview?: boolean
  /** Aborts when the client disconnects, the deadline passes, the API definition is replaced, or the server stops. */
  readonly signal: AbortSignal
  readonly record: Recorder
  /** Encrypts the continue tokens of lists that hide objects; absent: a key of this process is used. */
  readonly tokens?: TokenCipher
}

/** Encrypts continue tokens. */
export interface TokenCipher {
  /** `about`: what the token is valid for. */
  seal(token: string, about: string): string
  /** undefined for tokens of another key, and for those about something else. */
  open(sealed: string, about: string): string | undefined
}

/** The members of a context, with the lifetime instead of the signal. */
export type ContextParts = Omit<RequestContext, 'signal' | 'requestor'> & {
  readonly requestor: UserInfo | undefined
  /** Makes its signal on first use. */
  readonly lifetime: { readonly signal: AbortSignal }
}

/** A class, because an object literal would make a new accessor for each request, which is slow. */
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
  readonly tokens?: TokenCipher
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
    if (parts.tokens !== undefined) this.tokens = parts.tokens
    this.lifetime = parts.lifetime
    Object.freeze(this)
  }

  get signal(): AbortSignal {
    return this.lifetime.signal
  }
}

export const createContext = (parts: ContextParts): RequestContext => new Context(parts)

/** A copy of a context with changed members, which keeps the signal. */
export const contextWith = <P extends Params>(
  ctx: RequestContext<P>,
  changes: Partial<RequestContext<P>>,
): RequestContext<P> => Object.freeze(Object.assign(Object.create(Object.getPrototypeOf(ctx)), ctx, changes))
