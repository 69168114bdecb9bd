import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { IndexFn, Informers } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { admittedTypesAnnotation, pathAnnotation, typeAnnotation } from '../../kcp/annotations.ts'
import { logicalClusterName, onlyCluster } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import { mostAuthenticationConfigurations, type WorkspaceType } from '../../kcp/tenancy.ts'
import { objectOnce } from '../cache/item.ts'

/** Workspace types by `<path>:<name>`, as in the annotation of logical clusters. */
const byPath: IndexFn = ({ meta }) => [`${meta.annotations[pathAnnotation] ?? ''}:${meta.name}`]

const names = new WeakMap<Item, readonly string[]>()

/** The first names of a type that was stored with more. Read once for each of its states. */
function namesIn(type: Item): readonly string[] {
  const known = names.get(type)
  if (known !== undefined) return known
  const { authenticationConfigurations = [] } = (objectOnce(type) as WorkspaceType).spec ?? {}
  const distinct = new Set(authenticationConfigurations.map(({ name }) => name))
  const first = [...distinct].slice(0, mostAuthenticationConfigurations)
  names.set(type, first)
  return first
}

/**
 * Those among the types at a path that a workspace was created with: the users of its issuers may be anyone there, and another tenant may
 * have the path since. A workspace that comes from kcp does not name them.
 */
function ownTypes(found: readonly Item[], admitted: string | undefined): readonly Item[] {
  if (admitted === undefined) return onlyCluster(found) === undefined ? [] : found
  const ids = admitted.split(',')
  return found.filter(({ key }) => ids.includes(`${key.cluster}:${key.name}`))
}

/**
 * The WorkspaceAuthenticationConfigurations of a logical cluster: those that its type names, in the logical cluster
 * of the type, each once, at most 16 of a type. Read from memory, always current.
 */
export function workspaceIssuers(
  informers: Informers,
  workspaceTypes: ResourceRef,
): (cluster: ClusterName) => readonly Item[] {
  const clusters = informers.for(resources.logicalClusters)
  const typesByPath = informers.for(workspaceTypes).index(byPath)
  const configurations = informers.for({
    ...workspaceTypes,
    resource: 'workspaceauthenticationconfigurations',
  })
  return cluster => {
    const annotations = clusters.get(cluster, '', logicalClusterName)?.meta.annotations ?? {}
    const named = annotations[typeAnnotation]
    if (named === undefined) return []
    return ownTypes(typesByPath(named), annotations[admittedTypesAnnotation]).flatMap(type =>
      namesIn(type).flatMap(name => configurations.get(type.key.cluster, '', name) ?? []),
    )
  }
}
