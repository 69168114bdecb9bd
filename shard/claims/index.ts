import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { labelMatcher } from '../../framework/selectors/matcher.ts'
import type { Texts } from '../../framework/wire/encode.ts'
import { apisGroup } from '../../kcp/apigroups.ts'
import type { APIBinding } from '../../kcp/apis.ts'
import { claimLabelPrefix, exportLabel, reflexiveClaimValue } from '../../kcp/labels.ts'
import { createShared, type SharedValues } from '../apis/bound.ts'
import type { StoredResource } from '../cache/codec.ts'
import type { WatchCache } from '../cache/contract.ts'
import type { Decorator } from '../cache/item.ts'
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

/** A claim, and whether it is for an object with these labels. */
interface Matcher extends Pick<Claim, 'key' | 'value'> {
  readonly matches: (labels: Texts) => boolean
}

/** The accepted claims of a binding, by their content and by the resource that they claim. */
interface Claims {
  readonly byText: ReadonlyMap<string, Claim>
  readonly byResource: ReadonlyMap<string, readonly Matcher[]>
}

const none: Claims = { byText: new Map(), byResource: new Map() }

const keyOf = ({ group, resource, segment }: StoredResource): string => `${group}/${resource}/${segment}`

const byText = (claims: readonly Claim[]): ReadonlyMap<string, Claim> =>
  new Map(claims.map(claim => [JSON.stringify(claim), claim]))

function claimsOf(claims: readonly Claim[]): Claims {
  const texts = byText(claims)
  const byResource = new Map<string, Matcher[]>()
  for (const claim of texts.values()) {
    const { key, value, selector } = claim
    const matcher = { key, value, matches: selector === undefined ? () => true : labelMatcher(selector) }
    const own = byResource.get(keyOf(claim))
    if (own === undefined) byResource.set(keyOf(claim), [matcher])
    else own.push(matcher)
  }
  return { byText: texts, byResource }
}

export function createClaimsIndex(): ClaimsIndex {
  const clusters = new Map<ClusterName, ReadonlyMap<string, Claims>>()
  const shared = createShared<Claims>()
  return {
    prefix: claimLabelPrefix,
    labels: (resource, cluster, stored) => labelsOf(clusters.get(cluster), resource, stored),
    apply({ type, item }) {
      const { cluster, name } = item.key
      const bindings = clusters.get(cluster)
      const before = bindings?.get(name) ?? none
      const after = type === 'DELETED' ? none : sharedClaims(shared, item)
      if (before === after) return []
      const next = new Map(bindings)
      if (after === none) next.delete(name)
      else next.set(name, after)
      if (next.size === 0) clusters.delete(cluster)
      else clusters.set(cluster, next)
      return changedResources(before.byText, after.byText)
    },
  }
}

/** Equal lists of claims are shared between logical clusters. */
function sharedClaims(shared: SharedValues<Claims>, { object }: Item): Claims {
  const claims = acceptedClaims(object as APIBinding)
  return claims.length === 0 ? none : shared.get(JSON.stringify(claims), () => claimsOf(claims))
}

/** The resources whose objects get or lose labels by a change of a binding; `before` is absent when it is created. */
export function relabelled(before: APIBinding | undefined, after: APIBinding): readonly StoredResource[] {
  const textsOf = (binding: APIBinding | undefined) =>
    binding === undefined ? none.byText : byText(acceptedClaims(binding))
  return changedResources(textsOf(before), textsOf(after))
}

function labelsOf(
  bindings: ReadonlyMap<string, Claims> | undefined,
  resource: StoredResource,
  stored: Texts,
): Texts | undefined {
  const labels: Record<string, string> = {}
  const exported = isBinding(resource) ? stored[exportLabel] : undefined
  if (exported !== undefined) labels[claimLabelPrefix + exported] = reflexiveClaimValue
  for (const { byResource } of bindings?.values() ?? [])
    for (const { key, value, matches } of byResource.get(keyOf(resource)) ?? [])
      if (matches(stored)) labels[key] = value
  return Object.keys(labels).length === 0 ? undefined : labels
}

const isBinding = ({ group, resource }: StoredResource): boolean =>
  group === apisGroup && resource === 'apibindings'

/** The resources of claims that are only in one of the lists. */
function changedResources(before: Claims['byText'], after: Claims['byText']): readonly StoredResource[] {
  const changed = new Map<string, StoredResource>()
  const addMissing = (from: Claims['byText'], to: Claims['byText']): void => {
    for (const [text, { group, resource, segment }] of from) {
      const claimed = { group, resource, segment }
      if (!to.has(text)) changed.set(keyOf(claimed), claimed)
    }
  }
  addMissing(before, after)
  addMissing(after, before)
  return [...changed.values()]
}

/**
 * Adds claim labels to all objects in the cache. A change of a binding is visible at the binding's own revision:
 * watches that select by claim label get ADDED and DELETED events with it, and can resume there.
 */
export function claimsDecorator(cache: WatchCache): Decorator {
  const index = createClaimsIndex()
  const bindings = cache.resource(apisGroup, 'apibindings', 'customresources')
  for (const item of bindings.items()) index.apply({ type: 'ADDED', item })
  bindings.subscribe(
    event => {
      const { cluster } = event.item
      for (const resource of index.apply(event)) cache.redecorate(resource, cluster, event.revision)
    },
    { replay: false },
  )
  return index
}
