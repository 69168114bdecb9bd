import type { Backend, ResourceRef } from '../framework/backend.ts'
import type { RequestContext } from '../framework/context.ts'
import { StatusError } from '../framework/errors.ts'
import { type Logger, silent } from '../framework/log.ts'
import type { ClusterName, KubeObject, ObjectKey } from '../framework/object.ts'
import type { Verb } from '../framework/requestinfo.ts'
import type { DeleteOptions, Deletion } from '../framework/storage.ts'
import { loopback } from '../framework/user.ts'

/** Where an object is; `namespace` is left out for cluster-scoped kinds. */
export interface Place {
  readonly cluster: ClusterName
  readonly namespace?: string
  readonly name: string
}

/** One resource, over all logical clusters, as the server's own controllers use it: as `system:apiserver`. */
export interface ResourceClient<T extends KubeObject = KubeObject> {
  /** undefined when there is none. */
  get(place: Place): Promise<T | undefined>
  /** All objects of a cluster, or of one of its namespaces. */
  list(cluster: ClusterName, namespace?: string): Promise<readonly T[]>
  /** The name, and the namespace if any, are the object's own. Unknown fields are dropped, defaults applied. */
  create(cluster: ClusterName, object: T): Promise<T>
  /** `change` is called again after a lost race, unless its result carries a resourceVersion. */
  update(place: Place, change: (current: T) => T): Promise<T>
  updateStatus(place: Place, change: (current: T) => T): Promise<T>
  /** Like `update`, for the other subresources. */
  updateSubresource(subresource: string, place: Place, change: (current: T) => T): Promise<T>
  /** undefined when there was nothing to delete. */
  delete(place: Place, options?: Partial<DeleteOptions>): Promise<Deletion | undefined>
}

export interface ShardClient {
  resource<T extends KubeObject = KubeObject>(ref: ResourceRef): ResourceClient<T>
}

const fieldManager = 'oriel'

/** A client without HTTP, that may do everything. Ends what it does when `signal` aborts. */
export function createClient(
  backend: Pick<Backend, 'storage' | 'apis'>,
  signal: AbortSignal,
  log: Logger = silent,
): ShardClient {
  const context = (ref: ResourceRef, verb: Verb, key: ObjectKey): RequestContext =>
    loopbackContext({ ref, verb, key, signal, log })
  return { resource: <T extends KubeObject>(ref: ResourceRef) => resourceClient<T>(backend, ref, context) }
}

type ContextOf = (ref: ResourceRef, verb: Verb, key: ObjectKey) => RequestContext

const keyOf = ({ cluster, namespace = '', name }: Place): ObjectKey => ({ cluster, namespace, name })

function resourceClient<T extends KubeObject>(
  backend: Pick<Backend, 'storage' | 'apis'>,
  ref: ResourceRef,
  contextOf: ContextOf,
): ResourceClient<T> {
  const update = async (subresource: string, place: Place, change: (current: T) => T): Promise<T> => {
    const key = keyOf(place)
    const target = subresource === '' ? ref : { ...ref, subresource }
    const ctx = contextOf(target, 'update', key)
    const options = { dryRun: false, fieldManager }
    const item = await backend
      .storage(target)
      .update(ctx, key, ({ object }) => withoutVersion(change(object as T), object), options)
    return item.object as T
  }
  return {
    async get(place) {
      const key = keyOf(place)
      const item = await found(backend.storage(ref).get(contextOf(ref, 'get', key), key))
      return item?.object as T | undefined
    },
    async list(cluster, namespace = '') {
      const ctx = contextOf(ref, 'list', { cluster, namespace, name: '' })
      const objects: T[] = []
      for await (const batch of backend.storage(ref).list(ctx, { cluster, namespace })) {
        for (const item of batch) objects.push(item.object as T)
      }
      return objects
    },
    async create(cluster, object) {
      const { name = '', namespace = '' } = object.metadata
      const key = { cluster, namespace, name }
      const ctx = contextOf(ref, 'create', key)
      const complete = completed(backend, ref, cluster, object)
      const item = await backend.storage(ref).create(ctx, key, complete, { dryRun: false, fieldManager })
      return item.object as T
    },
    update: (place, change) => update('', place, change),
    updateStatus: (place, change) => update('status', place, change),
    updateSubresource: update,
    delete(place, options = {}) {
      const key = keyOf(place)
      const all = { dryRun: false, ...options }
      return found(backend.storage(ref).delete(contextOf(ref, 'delete', key), key, () => undefined, all))
    },
  }
}

/** The version that came with the current object is no wish of the caller's. */
function withoutVersion(next: KubeObject, current: KubeObject): KubeObject {
  const { resourceVersion, ...metadata } = next.metadata
  return resourceVersion === current.metadata.resourceVersion ? { ...next, metadata } : next
}

/** As the verb handler does it for clients outside. */
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

/** What a promise gives; undefined instead of a 404. */
export async function found<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return undefined
    throw error
  }
}

/** Whether an error says that what was to be created is there already. */
export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof StatusError && error.reason === 'AlreadyExists'

export const isConflict = (error: unknown): boolean =>
  error instanceof StatusError && error.reason === 'Conflict'

export interface LoopbackRequest {
  readonly ref: ResourceRef
  readonly verb: Verb
  readonly key: ObjectKey
  readonly signal: AbortSignal
  readonly log: Logger
}

/** The context of a request that the server makes to itself. */
export function loopbackContext({ ref, verb, key, signal, log }: LoopbackRequest): RequestContext {
  const { group, version, resource, subresource = '', identity } = ref
  const { namespace, name, cluster } = key
  const info = {
    isResource: true,
    verb,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    path: '',
  } as const
  return {
    workspace: '',
    params: {},
    cluster,
    info: identity === undefined ? info : { ...info, identity },
    user: loopback,
    actAs: loopback,
    hops: 0,
    signal,
    record: { warn: () => undefined, annotate: () => undefined, log },
  }
}
