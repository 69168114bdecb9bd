import type { ClusterScope } from '../meta/object.ts'
import type { Verb } from '../request/requestinfo.ts'
import { loopback } from '../request/user.ts'
import type { ResourceRef } from './backend.ts'
import type { RequestContext } from './context.ts'
import type { Logger } from './log.ts'

/** What the server itself wants of one resource. */
export interface LoopbackRequest {
  readonly verb: Verb
  readonly resource: ResourceRef
  readonly cluster: ClusterScope
  readonly signal: AbortSignal
  readonly log: Logger
}

/** The context of a request that never was on a wire: the server's own, with all rights and no warnings to send. */
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
