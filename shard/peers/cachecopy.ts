import { isDeepStrictEqual } from 'node:util'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import { type Item, originAnnotation } from '../../framework/contract/item.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import { originalUidAnnotation, originalVersionAnnotation } from '../../kcp/annotations.ts'
import { resourcePath } from '../../kcp/resources.ts'

/** Milliseconds for a request to the cache server. */
export const longest = 10_000

/** The path of a resource in the cache server; `<resource>:<identity>` for published objects. */
export const pathInCache = (cluster: ClusterName, ref: ResourceRef): string =>
  resourcePath(cluster, ref) + (ref.identity ? `:${ref.identity}` : '')

/** An object of this shard, and its copy in a cache server as it was last seen. */
export interface Pair {
  readonly cacheServer: PeerClient
  /** The name of this shard. */
  readonly shard: string
  /** Of the resource. */
  readonly path: string
  readonly name: string
  /** undefined: there is none, or none that others need. */
  readonly original: Item | undefined
  readonly copy: Item | undefined
  /** The copy also follows an original that is being deleted. */
  readonly whileDeleted?: boolean
}

/** Writes the copy, or removes it. A deleted object is copied until it is gone. */
export async function keepCopy({
  cacheServer,
  shard,
  path,
  name,
  original,
  copy,
  ...more
}: Pair): Promise<void> {
  const isDeleted = original?.object.metadata.deletionTimestamp !== undefined
  if (isDeleted && !more.whileDeleted) return
  const signal = AbortSignal.timeout(longest)
  if (original === undefined || (copy !== undefined && !isOfSame(copy, original))) {
    if (copy !== undefined) await removeCopy(cacheServer, `${path}/${name}`, copy.object)
    return
  }
  const wanted = cachedCopyOf(original.object, shard)
  if (copy === undefined) await cacheServer.post(path, wanted, signal)
  else if (!isDeepStrictEqual(contentOf(copy.object), contentOf(wanted)))
    await cacheServer.put(`${path}/${name}`, over(copy, wanted), signal)
}

/** Finalizers of the original have no controller in the cache server. */
export async function removeCopy(cacheServer: PeerClient, path: string, copy: KubeObject): Promise<void> {
  const signal = AbortSignal.timeout(longest)
  const { finalizers = [], deletionTimestamp, ...metadata } = copy.metadata
  if (finalizers.length > 0)
    await cacheServer.put(path, { ...copy, metadata: { ...metadata, finalizers: [] } }, signal)
  if (deletionTimestamp === undefined) await cacheServer.delete(path, signal)
}

/** The object with the annotations of kcp's copies. */
function cachedCopyOf({ metadata, ...object }: KubeObject, shard: string): KubeObject {
  const {
    resourceVersion = '',
    uid = '',
    deletionTimestamp: _,
    deletionGracePeriodSeconds: __,
    ...kept
  } = metadata
  const annotations = {
    ...metadata.annotations,
    [originAnnotation]: shard,
    [originalVersionAnnotation]: resourceVersion,
    [originalUidAnnotation]: uid,
  }
  return { ...object, metadata: { ...kept, uid, annotations } }
}

const over = ({ meta: { resourceVersion, uid } }: Item, wanted: KubeObject): KubeObject => ({
  ...wanted,
  metadata: { ...wanted.metadata, resourceVersion, uid },
})

/** Not the copy of an object that was deleted and created again. */
const isOfSame = (copy: Item, original: Item): boolean =>
  copy.meta.annotations[originalUidAnnotation] === original.meta.uid

/** What is compared: every change of the original has another version, and a cache server sets some metadata and an empty status. */
function contentOf({ metadata, status = {}, ...object }: KubeObject): object {
  const { annotations = {}, labels = {}, finalizers = [] } = metadata
  return { ...object, status, annotations, labels, finalizers }
}
