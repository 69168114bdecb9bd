import { resourceOfRef } from '../../framework/contract/apis.ts'
import type { Backend, ResourceRef } from '../../framework/contract/backend.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { Item } from '../../framework/contract/item.ts'
import { type Logger, silent } from '../../framework/contract/log.ts'
import { loopbackContext } from '../../framework/contract/loopback.ts'
import type { DeleteOptions, WriteOptions } from '../../framework/contract/storage.ts'
import { sameJson } from '../../framework/json/same.ts'
import { conflict, StatusError } from '../../framework/meta/errors.ts'
import type { ClusterName, ClusterScope, KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import type { Verb } from '../../framework/request/requestinfo.ts'
import type { Revocable } from '../registry/conditions.ts'

/** The client of controllers. All errors are `StatusError`s. */
export interface ControllerClient {
  /** All objects, or those of one namespace. */
  list(resource: ResourceRef, cluster: ClusterScope, namespace?: string): Promise<readonly Item[]>
  create(resource: ResourceRef, key: ObjectKey, object: KubeObject): Promise<KubeObject>
  /**
   * Updates the current object with `change`, and writes nothing when it is unchanged. A ref with a subresource
   * writes that part.
   */
  update(
    resource: ResourceRef,
    key: ObjectKey,
    change: (current: KubeObject) => KubeObject,
  ): Promise<KubeObject>
  delete(resource: ResourceRef, key: ObjectKey, options?: Partial<DeleteOptions>): Promise<void>
}

/** The key of a cluster-scoped object. */
export const clusterScoped = (cluster: ClusterName, name: string): ObjectKey => ({
  cluster,
  namespace: '',
  name,
})

const unless = async <T>(reason: string, action: Promise<T>): Promise<T | undefined> => {
  try {
    return await action
  } catch (error) {
    if (error instanceof StatusError && error.reason === reason) return undefined
    throw error
  }
}

/** The result; undefined when the object does not exist. */
export const ifFound = <T>(action: Promise<T>): Promise<T | undefined> => unless('NotFound', action)

/** Creates an object; undefined when one of that name exists. */
export function createIfMissing(
  client: ControllerClient,
  resource: ResourceRef,
  cluster: ClusterName,
  object: KubeObject,
): Promise<KubeObject | undefined> {
  const { name = '', namespace = '' } = object.metadata
  return unless('AlreadyExists', client.create(resource, { cluster, namespace, name }, object))
}

/** The object without one of its finalizers. */
export const withoutFinalizer = <T extends KubeObject>(object: T, finalizer: string): T => ({
  ...object,
  metadata: {
    ...object.metadata,
    finalizers: (object.metadata.finalizers ?? []).filter(each => each !== finalizer),
  },
})

/** Thrown for an unchanged object, which saves validation and encoding. */
class Unchanged extends Error {}

/** A single instance: its stack is not used. */
const unchanged = new Unchanged()

/** Updates metadata and spec. undefined when the object does not exist or is unchanged. */
export async function updateObject<T extends KubeObject>(
  client: ControllerClient,
  resource: ResourceRef,
  key: ObjectKey,
  change: (current: T) => T,
): Promise<KubeObject | undefined> {
  const strict = (current: KubeObject): KubeObject => {
    const next = change(current as T)
    if (sameJson(next, current)) throw unchanged
    return next
  }
  try {
    return await ifFound(client.update(resource, key, strict))
  } catch (error) {
    if (error === unchanged) return undefined
    throw error
  }
}

/** Updates the status. undefined when the object does not exist or is unchanged. */
export const updateStatus = <T extends KubeObject>(
  client: ControllerClient,
  resource: ResourceRef,
  key: ObjectKey,
  change: (current: T) => T,
): Promise<KubeObject | undefined> =>
  updateObject(client, { ...resource, subresource: 'status' }, key, change)

const options: WriteOptions = { dryRun: false, fieldManager: 'oriel' }

/** Returns what throws when the server of a request that begins now has lost the Lease of the controllers. */
export type TermPermission = () => () => void

export interface ClientOptions {
  readonly backend: Pick<Backend, 'storage' | 'apis'>
  /** Cancels the requests of the client. */
  readonly signal: AbortSignal
  readonly log?: Logger
  /** Absent: the client is not one of controllers that another server may run. */
  readonly permission?: TermPermission
}

/** A client without HTTP and with all permissions, for controllers. */
export function createClient({ backend, signal, log = silent, permission }: ClientOptions): ControllerClient {
  const contextOf = (verb: Verb, resource: ResourceRef, cluster: ClusterScope): RequestContext =>
    loopbackContext({ verb, resource, cluster, signal, log })
  const revocable = <T extends object>(given: T): Revocable<T> =>
    permission === undefined ? given : { ...given, mayStore: permission() }
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
      return (await backend.storage(resource).create(ctx, key, complete, revocable(options))).object
    },
    async update(resource, key, change) {
      const ctx = contextOf('update', resource, key.cluster)
      const check = sameObject(resource)
      const next = (item: Item): KubeObject => {
        check(item)
        return withoutVersion(change(item.object), item.object)
      }
      return (await backend.storage(resource).update(ctx, key, next, revocable(options))).object
    },
    async delete(resource, key, options = {}) {
      const ctx = contextOf('delete', resource, key.cluster)
      const revoked = revocable({ dryRun: false, ...options })
      await backend.storage(resource).delete(ctx, key, sameObject(resource), revoked)
    },
  }
}

/**
 * Throws 409 when another object has the name of the first one. A request is repeated after a conflict, and its server may have been
 * suspended meanwhile: another server ran the controllers, and the object was deleted and created again.
 */
function sameObject({ group, resource }: ResourceRef): (item: Item) => void {
  let first: string | undefined
  return ({ meta: { uid }, key: { name } }) => {
    first ??= uid
    if (uid !== first) throw conflict({ group, resource, name }, 'the object was deleted and created again')
  }
}

/** Drops the unchanged resourceVersion, so that a conflict retries the change. */
function withoutVersion(next: KubeObject, current: KubeObject): KubeObject {
  const { resourceVersion, ...metadata } = next.metadata
  return resourceVersion === current.metadata.resourceVersion ? { ...next, metadata } : next
}

/** Drops unknown fields and applies defaults, as for requests of clients. */
function completed(
  backend: Pick<Backend, 'apis'>,
  ref: ResourceRef,
  cluster: ClusterName,
  object: KubeObject,
): KubeObject {
  const served = resourceOfRef(backend.apis(cluster) ?? backend.apis('*'), ref)
  return served?.schema.decode(object).object ?? object
}
