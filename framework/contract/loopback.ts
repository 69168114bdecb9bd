import type { ClusterScope } from '../meta/object.ts'
import type { Verb } from '../request/requestinfo.ts'
import { loopback } from '../request/user.ts'
import type { ResourceRef } from './backend.ts'
import type { RequestContext } from './context.ts'
import type { Logger } from './log.ts'

/** A request of the server itself for one resource. */
export interface LoopbackRequest {
  readonly verb: Verb
  readonly resource: ResourceRef
  readonly cluster: ClusterScope
  readonly signal: AbortSignal
  readonly log: Logger
}

/**
 * The context of a request of the server itself, as `loopback`, for calls of a storage outside of a client's request:
 *
 * ```ts
 * const ctx = loopbackContext({ verb: 'get', resource, cluster: 'root', signal, log })
 * const item = await backend.storage(resource).get(ctx, { cluster: 'root', namespace: '', name: 'a' })
 * ```
 */
export function loopbackContext({ verb, resource, cluster, signal, log }: LoopbackRequest): RequestContext {
  const { subresource = '', ...ref } = resource
  const info = { ...ref, isResource: true, verb, subresource, namespace: '', name: '', path: '' } as const
  const record = { log, warn: () => undefined, annotate: () => undefined }
  const params = {}
  return Object.freeze({
    workspace: '',
    params,
    cluster,
    info,
    user: loopback,
    actAs: loopback,
    hops: 0,
    signal,
    record,
  })
}
