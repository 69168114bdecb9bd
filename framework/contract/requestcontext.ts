import type { ClusterScope } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import type { UserInfo } from '../request/user.ts'
import type { Recorder, RequestContext } from './context.ts'

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
