import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { IndexFn, Informers } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { pathAnnotation, typeAnnotation } from '../../kcp/annotations.ts'
import { logicalClusterName } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import type { WorkspaceType } from '../../kcp/tenancy.ts'

interface AuthenticatingType extends WorkspaceType {
  readonly spec?: WorkspaceType['spec'] & {
    readonly authenticationConfigurations?: readonly { readonly name: string }[]
  }
}

/** Workspace types by `<path>:<name>`, as in the annotation of logical clusters. */
const byPath: IndexFn = ({ meta }) => [`${meta.annotations[pathAnnotation] ?? ''}:${meta.name}`]

/**
 * The WorkspaceAuthenticationConfigurations of a logical cluster: those that its type names, in the logical cluster
 * of the type. Read from memory, always current.
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
    const named = clusters.get(cluster, '', logicalClusterName)?.meta.annotations[typeAnnotation]
    if (named === undefined) return []
    return typesByPath(named).flatMap(({ key, object }) =>
      ((object as AuthenticatingType).spec?.authenticationConfigurations ?? []).flatMap(
        ({ name }) => configurations.get(key.cluster, '', name) ?? [],
      ),
    )
  }
}
