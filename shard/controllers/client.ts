import { isDeepStrictEqual } from 'node:util'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { DeleteOptions } from '../../framework/contract/storage.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { ClusterName, ClusterScope, KubeObject, ObjectKey } from '../../framework/meta/object.ts'

/** What controllers write with. Everything that fails throws a `StatusError`. */
export interface ControllerClient {
  /** All objects, or those of one namespace. */
  list(resource: ResourceRef, cluster: ClusterScope, namespace?: string): Promise<readonly Item[]>
  create(resource: ResourceRef, key: ObjectKey, object: KubeObject): Promise<KubeObject>
  /** Writes what `change` makes of the newest state, or nothing when that is equal. A ref with a subresource writes
   * that part. */
  update(
    resource: ResourceRef,
    key: ObjectKey,
    change: (current: KubeObject) => KubeObject,
  ): Promise<KubeObject>
  delete(resource: ResourceRef, key: ObjectKey, wishes?: Partial<DeleteOptions>): Promise<void>
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

/** undefined when the object is gone. */
export const ifFound = <T>(action: Promise<T>): Promise<T | undefined> => unless('NotFound', action)

/** Creates an object under its own name; undefined when one of that name is there. */
export function createIfMissing(
  client: ControllerClient,
  resource: ResourceRef,
  cluster: ClusterName,
  object: KubeObject,
): Promise<KubeObject | undefined> {
  const { name = '', namespace = '' } = object.metadata
  return unless('AlreadyExists', client.create(resource, { cluster, namespace, name }, object))
}

/** Thrown by a change that changes nothing: it then costs no validation and no encoding. */
class Unchanged extends Error {}

/** One for all: nobody reads its stack. */
const unchanged = new Unchanged()

/** Writes metadata and spec. undefined when the object is gone, or is as it should be. */
export async function updateObject<T extends KubeObject>(
  client: ControllerClient,
  resource: ResourceRef,
  key: ObjectKey,
  change: (current: T) => T,
): Promise<KubeObject | undefined> {
  const strict = (current: KubeObject): KubeObject => {
    const next = change(current as T)
    if (isDeepStrictEqual(next, current)) throw unchanged
    return next
  }
  try {
    return await ifFound(client.update(resource, key, strict))
  } catch (error) {
    if (error === unchanged) return undefined
    throw error
  }
}

/** Writes status. undefined when the object is gone, or is as it should be. */
export const updateStatus = <T extends KubeObject>(
  client: ControllerClient,
  resource: ResourceRef,
  key: ObjectKey,
  change: (current: T) => T,
): Promise<KubeObject | undefined> =>
  updateObject(client, { ...resource, subresource: 'status' }, key, change)
