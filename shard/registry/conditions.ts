import type { ObjectKey } from '../../framework/meta/object.ts'
import { apisGroup } from '../../kcp/apigroups.ts'
import { type StoredResource, storageKey } from '../cache/codec.ts'
import type { WatchCache } from '../cache/contract.ts'
import { builtinSegment, customSegment } from '../cache/segments.ts'
import type { StoreCondition } from '../store/store.ts'

const namespaces: StoredResource = { group: '', resource: 'namespaces', segment: builtinSegment }
const bindings: StoredResource = { group: apisGroup, resource: 'apibindings', segment: customSegment }

/**
 * A new object requires its namespace and the binding of its resource as this server knows them. It does not require its
 * definition: etcd reads all bytes of a key that it compares, and definitions are large. A later definition does not get the
 * objects of an earlier one (`removeLeftovers`).
 */
export function conditionsOf(
  cache: WatchCache,
  { cluster, namespace }: ObjectKey,
  binding = '',
): readonly StoreCondition[] {
  const required = [
    { resource: namespaces, name: namespace },
    { resource: bindings, name: binding },
  ].filter(({ name }) => name !== '')
  return required.map(({ resource, name }) => {
    const key = { cluster, namespace: '', name }
    const found = cache.resource(resource.group, resource.resource, resource.segment).get(key)
    return { key: storageKey(resource, key), expected: found?.modified ?? 0 }
  })
}
