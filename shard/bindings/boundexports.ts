import { type BoundExport, type BoundExports, referenceOf } from '../../authz/chain/maximalpolicy.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import { pathAnnotation } from '../../kcp/annotations.ts'
import type { APIExport } from '../../kcp/apis.ts'
import { resources } from '../../kcp/resources.ts'
import type { BoundSet, BoundSets } from './boundsets.ts'

/**
 * Looks up the exports of bound resources in every logical cluster. `changed` is called at each change, with the
 * logical cluster of a binding or with the keys of an export.
 */
export function boundExportsOf(
  informers: Informers,
  bound: BoundSets,
  changed: (about: string) => void,
): BoundExports {
  informers.for(resources.apiBindings).onEvent(({ item }) => changed(item.key.cluster))
  const exports = informers.for(resources.apiExports)
  const byReference = exports.index(referencesOf)
  exports.onEvent(({ type, item, previous }) => {
    if (type === 'BOOKMARK') return
    for (const each of previous === undefined ? [item] : [item, previous])
      for (const reference of referencesOf(each)) changed(reference)
  })
  // A path may lead to another export later, or through a link: the export that was bound is in this logical cluster.
  const exportOf = ({ path: bound, name, exportCluster }: BoundSet): BoundExport => {
    const path = exportCluster ?? bound
    const found =
      exportCluster === undefined
        ? byReference(referenceOf({ path, name }))[0]
        : exports.get(exportCluster, '', name)
    return found === undefined
      ? { path, name, policy: 'none' }
      : { path, name, cluster: found.key.cluster, policy: policyOf(found) }
  }
  return {
    of: (cluster, group, resource) => bound.of(cluster, group, resource).map(exportOf),
  }
}

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
