import { badRequest, serviceUnavailable } from '../../framework/meta/errors.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import { dumpAnnotation, dumpStates } from '../../kcp/annotations.ts'
import { coreGroup } from '../../kcp/apigroups.ts'
import { logicalClusterName } from '../../kcp/logicalclusters.ts'
import { decodeStored, encodeStored, storageKey } from '../cache/codec.ts'
import type { WatchCache } from '../cache/contract.ts'
import { customSegment } from '../cache/segments.ts'
import { withMetadata } from '../registry/strategy.ts'
import { type Store, StoreConflict } from '../store/store.ts'

interface Stored {
  readonly store: Store
  readonly cache: WatchCache
}

/**
 * Notes, before it gets the first entry, that a shard of kcp copies a logical cluster. Throws 400 when the logical cluster does not move
 * to a shard of kcp, or does no longer, and 503 when its LogicalCluster changes meanwhile.
 */
export async function beginForKcp({ store, cache }: Stored, cluster: ClusterName): Promise<void> {
  const resource = { group: coreGroup, resource: 'logicalclusters', segment: customSegment }
  const key = storageKey(resource, { cluster, namespace: '', name: logicalClusterName })
  const found = await store.get(key)
  const object = found && decodeObject(decodeStored(found.value).bytes)
  const state = object?.metadata.annotations?.[dumpAnnotation]
  if (state === dumpStates.begun) return
  if (found === undefined || object === undefined || state !== dumpStates.awaited)
    throw badRequest(
      `logical cluster ${cluster} does not move to a shard of kcp: the request names no format of its entries`,
    )
  try {
    const value = encodeStored(begun(object))
    await cache.at(await store.commit([{ key, value, expected: found.modified }]))
  } catch (error) {
    if (!(error instanceof StoreConflict)) throw error
    throw serviceUnavailable('the logical cluster was changed meanwhile', 1)
  }
}

const begun = (object: KubeObject): KubeObject =>
  withMetadata(object, {
    annotations: { ...object.metadata.annotations, [dumpAnnotation]: dumpStates.begun },
  })
