import { type BoundExport, type BoundExports, referenceOf } from '../../authz/chain/maximalpolicy.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { pathAnnotation } from '../../kcp/annotations.ts'
import type { APIBinding, APIExport } from '../../kcp/apis.ts'
import { resources } from '../../kcp/resources.ts'

/** An APIBinding: its bound resources and its export reference. */
interface Bound {
  readonly binding: string
  readonly path: string
  readonly name: string
}

/**
 * Looks up the exports of bound resources in every logical cluster. `changed` is called at each change, with the
 * logical cluster of a binding or with the keys of an export.
 */
export function boundExportsOf(informers: Informers, changed: (about: string) => void): BoundExports {
  const bound = new Map<string, readonly Bound[]>()
  informers.for(resources.apiBindings).onEvent(event => {
    apply(bound, event)
    changed(event.item.key.cluster)
  })
  const exports = informers.for(resources.apiExports)
  const byReference = exports.index(referencesOf)
  exports.onEvent(({ type, item, previous }) => {
    if (type === 'BOOKMARK') return
    for (const each of previous === undefined ? [item] : [item, previous])
      for (const reference of referencesOf(each)) changed(reference)
  })
  const exportOf = ({ path, name }: Bound): BoundExport => {
    const [found] = byReference(referenceOf({ path, name }))
    return found === undefined
      ? { path, name, policy: 'none' }
      : { path, name, cluster: found.key.cluster, policy: policyOf(found) }
  }
  return {
    of: (cluster, group, resource) => (bound.get(keyOf(cluster, group, resource)) ?? none).map(exportOf),
  }
}

const none: readonly Bound[] = []

const keyOf = (cluster: ClusterName, group: string, resource: string): string =>
  `${cluster}/${group}/${resource}`

/** An export by the name of its logical cluster and by its path. */
function referencesOf({ key, meta }: Item): readonly string[] {
  const path = meta.annotations[pathAnnotation]
  return [...new Set([key.cluster, path ?? key.cluster])].map(path => referenceOf({ path, name: key.name }))
}

function policyOf({ object }: Item): BoundExport['policy'] {
  const policy = (object as APIExport).spec?.maximalPermissionPolicy
  if (policy == null) return 'none'
  return policy.local == null ? 'empty' : 'local'
}

function apply(bound: Map<string, readonly Bound[]>, { type, item, previous }: ItemEvent): void {
  if (type === 'BOOKMARK') return
  for (const key of keysOf(type === 'DELETED' ? item : previous)) {
    const rest = (bound.get(key) ?? none).filter(({ binding }) => binding !== item.key.name)
    if (rest.length === 0) bound.delete(key)
    else bound.set(key, rest)
  }
  const entry = type === 'DELETED' ? undefined : entryOf(item)
  if (entry !== undefined)
    for (const key of keysOf(item)) bound.set(key, [...(bound.get(key) ?? none), entry])
}

function keysOf(item: Item | undefined): ReadonlySet<string> {
  if (item === undefined) return new Set()
  const resources = (item.object as APIBinding).status?.boundResources ?? []
  return new Set(resources.map(({ group, resource }) => keyOf(item.key.cluster, group, resource)))
}

/** A reference without a path means the binding's own workspace. */
function entryOf({ key, object }: Item): Bound | undefined {
  const to = (object as APIBinding).spec?.reference?.export
  return to && { binding: key.name, path: to.path || key.cluster, name: to.name }
}
