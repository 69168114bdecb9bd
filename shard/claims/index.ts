import type { Item, ItemEvent, ObjectMeta } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { matchesLabels } from '../../framework/selectors/selectors.ts'
import { apisGroup } from '../../kcp/apigroups.ts'
import type { APIBinding } from '../../kcp/apis.ts'
import { claimLabelPrefix, exportLabel, reflexiveClaimValue } from '../../kcp/labels.ts'
import { createShared, type SharedValues } from '../apis/bound.ts'
import type { StoredResource } from '../cache/codec.ts'
import type { Decorator } from '../cache/item.ts'
import type { WatchCache } from '../cache/watchcache.ts'
import { acceptedClaims, type Claim } from './claims.ts'

/**
 * The accepted claims of every logical cluster as labels of the claimed objects. The labels are added when objects
 * are read and never stored, so that accepting a claim writes nothing.
 */
interface ClaimsIndex extends Decorator {
  /**
   * Applies a change of an APIBinding. Returns the resources whose objects in that logical cluster have other
   * labels now.
   */
  apply(event: ItemEvent): readonly StoredResource[]
}

type Claims = readonly Claim[]
const none: Claims = []

export function createClaimsIndex(): ClaimsIndex {
  const clusters = new Map<ClusterName, ReadonlyMap<string, Claims>>()
  const shared = createShared<Claims>()
  return {
    prefix: claimLabelPrefix,
    labels: (resource, meta) => labelsOf(clusters.get(meta.cluster), resource, meta),
    apply({ type, item }) {
      const { cluster, name } = item.key
      const bindings = clusters.get(cluster)
      const before = bindings?.get(name) ?? none
      const after = type === 'DELETED' ? none : sharedClaims(shared, item)
      if (before === after) return []
      const next = new Map(bindings)
      if (after.length === 0) next.delete(name)
      else next.set(name, after)
      if (next.size === 0) clusters.delete(cluster)
      else clusters.set(cluster, next)
      return changedResources(before, after)
    },
  }
}

/** Equal lists of claims are shared between logical clusters. */
function sharedClaims(shared: SharedValues<Claims>, { object }: Item): Claims {
  const claims = acceptedClaims(object as APIBinding)
  return claims.length === 0 ? none : shared.get(JSON.stringify(claims), () => claims)
}

const isOf = (claim: StoredResource, { group, resource, segment }: StoredResource): boolean =>
  claim.resource === resource && claim.group === group && claim.segment === segment

function labelsOf(
  bindings: ReadonlyMap<string, Claims> | undefined,
  resource: StoredResource,
  meta: ObjectMeta,
): Readonly<Record<string, string>> | undefined {
  const labels: Record<string, string> = {}
  const exported = isBinding(resource) ? meta.labels[exportLabel] : undefined
  if (exported !== undefined) labels[claimLabelPrefix + exported] = reflexiveClaimValue
  for (const claims of bindings?.values() ?? []) {
    for (const claim of claims) {
      if (isOf(claim, resource) && matchesLabels(claim.selector, meta.labels)) labels[claim.key] = claim.value
    }
  }
  return Object.keys(labels).length === 0 ? undefined : labels
}

const isBinding = ({ group, resource }: StoredResource): boolean =>
  group === apisGroup && resource === 'apibindings'

/** The resources of claims that are only in one of the lists. */
function changedResources(before: Claims, after: Claims): readonly StoredResource[] {
  const [old, next] = [new Set(before.map(written)), new Set(after.map(written))]
  const changed = [
    ...before.filter(claim => !next.has(written(claim))),
    ...after.filter(claim => !old.has(written(claim))),
  ]
  const resources = changed.map(({ group, resource, segment }) => ({ group, resource, segment }))
  return [...new Map(resources.map(each => [JSON.stringify(each), each])).values()]
}

const written = (claim: Claim): string => JSON.stringify(claim)

/**
 * Adds claim labels to all objects in the cache. A change of a binding is visible at the binding's own revision:
 * watches that select by claim label get ADDED and DELETED events with it, and can resume there.
 */
export function claimsDecorator(cache: WatchCache): Decorator {
  const index = createClaimsIndex()
  cache.resource(apisGroup, 'apibindings', 'customresources').subscribe(
    event => {
      for (const { group, resource, segment } of index.apply(event))
        cache.resource(group, resource, segment).redecorate(event.item.cluster, event.revision)
    },
    { replay: true },
  )
  return index
}
