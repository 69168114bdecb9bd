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
export async function beginForKcp(place: Stored, cluster: ClusterName): Promise<void> {
  const home = await homeIn(place, cluster)
  if (home === undefined || stateIn(home) === undefined || stateIn(home) === dumpStates.refused)
    throw badRequest(
      `logical cluster ${cluster} does not move to a shard of kcp: the request names no format of its entries`,
    )
  if (stateIn(home) === dumpStates.awaited) await note(place, home, dumpStates.begun)
}

/**
 * Notes, before it gets the last entries, that it gets them, and the revision since which the logical cluster is closed. Throws 503
 * like `beginForKcp`.
 */
export async function endForKcp(place: Stored, cluster: ClusterName): Promise<void> {
  const home = await homeIn(place, cluster)
  if (home !== undefined && stateIn(home) === dumpStates.begun)
    await note(place, home, `${dumpStates.sent},${home.modified}`)
}

interface Home {
  readonly key: string
  readonly object: KubeObject
  readonly modified: number
}

async function homeIn({ store }: Stored, cluster: ClusterName): Promise<Home | undefined> {
  const resource = { group: coreGroup, resource: 'logicalclusters', segment: customSegment }
  const key = storageKey(resource, { cluster, namespace: '', name: logicalClusterName })
  const found = await store.get(key)
  return found && { key, object: decodeObject(decodeStored(found.value).bytes), modified: found.modified }
}

const stateIn = ({ object }: Home): string | undefined => object.metadata.annotations?.[dumpAnnotation]

async function note({ store, cache }: Stored, home: Home, state: string): Promise<void> {
  const { key, object, modified } = home
  const annotations = { ...object.metadata.annotations, [dumpAnnotation]: state }
  const value = encodeStored(withMetadata(object, { annotations }))
  try {
    await cache.at(await store.commit([{ key, value, expected: modified }]))
  } catch (error) {
    if (!(error instanceof StoreConflict)) throw error
    throw serviceUnavailable('the logical cluster was changed meanwhile', 1)
  }
}
