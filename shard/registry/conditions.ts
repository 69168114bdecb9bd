import type { ObjectKey } from '../../framework/meta/object.ts'
import { apisGroup } from '../../kcp/apigroups.ts'
import { localAdminCluster } from '../../kcp/logicalclusters.ts'
import { type StoredResource, storageKey } from '../cache/codec.ts'
import type { WatchCache } from '../cache/contract.ts'
import { builtinSegment, customSegment } from '../cache/segments.ts'
import { type Store, type StoreChange, type StoreCondition, StoreConflict } from '../store/store.ts'

const namespaces: StoredResource = { group: '', resource: 'namespaces', segment: builtinSegment }
const bindings: StoredResource = { group: apisGroup, resource: 'apibindings', segment: customSegment }
const leases: StoredResource = {
  group: 'coordination.k8s.io',
  resource: 'leases',
  segment: builtinSegment,
}

/**
 * The Lease that a server writes when other servers have to admit again what they have not stored yet: a logical cluster begins to
 * move, or the objects of a definition are deleted.
 */
export const admissionLease: ObjectKey = {
  cluster: localAdminCluster,
  namespace: 'kube-system',
  name: 'oriel-admission',
}

const admissionKey = storageKey(leases, admissionLease)

/** 0 for an object that is not there. */
const modifiedIn = (
  cache: WatchCache,
  { group, resource, segment }: StoredResource,
  key: ObjectKey,
): number => cache.resource(group, resource, segment).get(key)?.modified ?? 0

/** Options of a write by a controller: `mayStore` throws when another server may run the controllers. It is called before each attempt. */
export type Revocable<Options> = Options & { readonly mayStore?: () => void }

/** The write of an object as it is stored. */
export interface ObjectWrite extends Pick<Revocable<object>, 'mayStore'> {
  readonly key: ObjectKey
  readonly value: Buffer | undefined
  readonly expected: number
}

/** What every write to a shared store requires: this server knows of the newest end of what was admitted before. */
export const admissionCondition = (cache: WatchCache): StoreCondition => ({
  key: admissionKey,
  expected: modifiedIn(cache, leases, admissionLease),
})

/**
 * Besides, a new object (`expected` is 0) requires its namespace and the binding of its resource as this server knows them. It does not
 * require its definition: etcd reads all bytes of a key that it compares, and definitions are large.
 */
export function conditionsOf(
  cache: WatchCache,
  { key: { cluster, namespace }, expected }: { readonly key: ObjectKey; readonly expected: number },
  binding = '',
): readonly StoreCondition[] {
  if (expected !== 0) return [admissionCondition(cache)]
  const required = [
    { resource: namespaces, name: namespace },
    { resource: bindings, name: binding },
  ].filter(({ name }) => name !== '')
  return [
    admissionCondition(cache),
    ...required.map(({ resource, name }) => {
      const key = { cluster, namespace: '', name }
      return { key: storageKey(resource, key), expected: modifiedIn(cache, resource, key) }
    }),
  ]
}

/** Attempts while other servers change what a commit requires. */
const attempts = 64

/**
 * Commits changes to a shared store until they are stored; returns the revision. `check` throws when they are not permitted, and returns
 * what that depends on. It is called before each attempt: another server may have changed it, although this one has no event of it yet.
 * Throws `StoreConflict`: of a change, or of a condition after the last attempt.
 */
export async function commitChecked(
  { store, cache }: { readonly store: Store; readonly cache: WatchCache },
  changes: readonly StoreChange[],
  check: () => readonly StoreCondition[],
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const conditions = check()
    try {
      return await store.commit(changes, conditions)
    } catch (error) {
      if (!(error instanceof StoreConflict) || isOfChange(error, changes) || attempt === attempts) throw error
      await cache.at(await store.latest())
    }
  }
}

const isOfChange = (conflict: StoreConflict, changes: readonly StoreChange[]): boolean =>
  changes.some(({ key, expected }) => key === conflict.key && expected !== undefined)
