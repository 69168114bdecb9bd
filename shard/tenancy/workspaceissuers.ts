import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { IndexFn, Informers } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import { oncePerItem } from '../../framework/contract/onceperitem.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { pathAnnotation, typeAnnotation } from '../../kcp/annotations.ts'
import { logicalClusterName, onlyCluster } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import { mostAuthenticationConfigurations, type WorkspaceType } from '../../kcp/tenancy.ts'
import { objectOnce } from '../cache/item.ts'
import { type Annotations, admittedIn } from './admittedtypes.ts'
import { typeId } from './typechain.ts'

/** Workspace types by `<path>:<name>`, as in the annotation of logical clusters. */
const byPath: IndexFn = ({ meta }) => [`${meta.annotations[pathAnnotation] ?? ''}:${meta.name}`]

/** The first names of a type that was stored with more. */
const namesIn = oncePerItem((type): readonly string[] => {
  const { authenticationConfigurations = [] } = (objectOnce(type) as WorkspaceType).spec ?? {}
  const distinct = new Set(authenticationConfigurations.map(({ name }) => name))
  return [...distinct].slice(0, mostAuthenticationConfigurations)
})

/**
 * Those among the types at a path that a workspace was created with: the users of its issuers may be anyone there, and another tenant may
 * have the path since. A workspace that comes from kcp does not name them.
 */
function ownTypes(found: readonly Item[], annotations: Annotations): readonly Item[] {
  const admitted = admittedIn(annotations)
  if (admitted === undefined) return onlyCluster(found) === undefined ? [] : found
  return found.filter(({ key }) => admitted.has(typeId(key.cluster, key.name)))
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
    return ownTypes(typesByPath(named), annotations).flatMap(type =>
      namesIn(type).flatMap(name => configurations.get(type.key.cluster, '', name) ?? []),
    )
  }
}
