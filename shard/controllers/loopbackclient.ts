import type { Backend, ResourceRef } from '../../framework/contract/backend.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { Item } from '../../framework/contract/item.ts'
import { type Logger, silent } from '../../framework/contract/log.ts'
import { loopbackContext } from '../../framework/contract/loopback.ts'
import type { WriteOptions } from '../../framework/contract/storage.ts'
import type { ClusterName, ClusterScope, KubeObject } from '../../framework/meta/object.ts'
import type { Verb } from '../../framework/request/requestinfo.ts'
import type { ControllerClient } from './client.ts'

const options: WriteOptions = { dryRun: false, fieldManager: 'oriel' }

export interface ClientOptions {
  readonly backend: Pick<Backend, 'storage' | 'apis'>
  /** Ends what the client does. */
  readonly signal: AbortSignal
  readonly log?: Logger
}

/** A client without HTTP, that may do everything: what controllers write with. */
export function createClient({ backend, signal, log = silent }: ClientOptions): ControllerClient {
  const contextOf = (verb: Verb, resource: ResourceRef, cluster: ClusterScope): RequestContext =>
    loopbackContext({ verb, resource, cluster, signal, log })
  return {
    async list(resource, cluster, namespace = '') {
      const items: Item[] = []
      const ctx = contextOf('list', resource, cluster)
      for await (const batch of backend.storage(resource).list(ctx, { cluster, namespace }))
        items.push(...batch)
      return items
    },
    async create(resource, key, object) {
      const ctx = contextOf('create', resource, key.cluster)
      const complete = completed(backend, resource, key.cluster, object)
      return (await backend.storage(resource).create(ctx, key, complete, options)).object
    },
    async update(resource, key, change) {
      const ctx = contextOf('update', resource, key.cluster)
      const next = ({ object }: Item): KubeObject => withoutVersion(change(object), object)
      return (await backend.storage(resource).update(ctx, key, next, options)).object
    },
    async delete(resource, key, wishes = {}) {
      const ctx = contextOf('delete', resource, key.cluster)
      await backend.storage(resource).delete(ctx, key, () => undefined, { dryRun: false, ...wishes })
    },
  }
}

/** The version that came with the current object is no wish of the caller's: a lost race runs the change again. */
function withoutVersion(next: KubeObject, current: KubeObject): KubeObject {
  const { resourceVersion, ...metadata } = next.metadata
  return resourceVersion === current.metadata.resourceVersion ? { ...next, metadata } : next
}

/** Unknown fields dropped and defaults applied, as the verb handler does it for clients outside. */
function completed(
  backend: Pick<Backend, 'apis'>,
  { group, version, resource, identity }: ResourceRef,
  cluster: ClusterName,
  object: KubeObject,
): KubeObject {
  const plural = identity === undefined ? resource : `${resource}:${identity}`
  const served = (backend.apis(cluster) ?? backend.apis('*'))?.find(group, version, plural)
  return served?.schema.decode(object).object ?? object
}
