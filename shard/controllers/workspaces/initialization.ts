import type { ClusterName } from '../../../framework/meta/object.ts'
import { ownerAnnotation } from '../../../kcp/annotations.ts'
import { type ConditionState, conditionIs } from '../../../kcp/conditions.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { readOwner } from '../../../kcp/owner.ts'
import { resources } from '../../../kcp/resources.ts'
import { creationOf } from '../../manifests/apply.ts'
import { type Manifest, namespace } from '../../manifests/manifest.ts'
import { userBinding } from '../../manifests/rbac.ts'
import type { StoreChange } from '../../store/store.ts'
import {
  bindingsInitialized,
  type DefaultManifest,
  defaultBindings,
  storeDefaults,
} from '../exports/defaultbindings.ts'
import type { KcpControllerDeps } from '../host.ts'
import { namespaceContent } from '../kubernetes/namespace.ts'

/** What the server's own initializers do. */
export interface Initialization {
  /** Identifiers of the initializers that have finished when the missing objects are stored. */
  readonly finished: readonly string[]
  /** The condition of the default bindings; undefined when the types have none. */
  readonly bindings: ConditionState | undefined
  /** The default bindings to create, and other objects. */
  readonly missing: { readonly bindings: readonly DefaultManifest[]; readonly others: readonly Manifest[] }
}

/** The initializer that creates default bindings; types with `defaultAPIBindings` have it. */
export const bindingsInitializer = 'system:apibindings'

const universal = 'root:universal'
const universalNamespaces = ['default', 'kube-system']

/** Whether the server runs this initializer itself. */
export const isBuiltin = (initializer: string): boolean =>
  initializer === universal || initializer === bindingsInitializer

/** Whether only the server's own initializers are left, which finish shortly: they are not reported. */
export const hasOnlyBuiltinInitializers = ({ status }: LogicalCluster): boolean =>
  status?.phase === 'Initializing' &&
  (status.initializers ?? []).every(isBuiltin) &&
  !conditionIs(status.conditions, bindingsInitialized, 'False')

/** The built-in initializers `root:universal` and `system:apibindings`, and the role `cluster-admin` for the creator. */
export function initializationOf(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  object: LogicalCluster,
): Initialization {
  const wanted = object.status?.initializers ?? []
  const isUniversal = wanted.includes(universal)
  const bindings = wanted.includes(bindingsInitializer) ? defaultBindings(deps, cluster, object) : undefined
  const others = [
    ...missingAdmin(deps, cluster, object),
    ...(isUniversal ? universalNamespaces.flatMap(name => missingNamespace(deps, cluster, name)) : []),
  ]
  const isBound = bindings?.condition.status === 'True'
  const finished = [...(isUniversal ? [universal] : []), ...(isBound ? [bindingsInitializer] : [])]
  return {
    finished,
    bindings: bindings?.condition,
    missing: { bindings: bindings?.missing ?? [], others },
  }
}

/** Creates the missing objects, in one commit with `more`, which is applied first. */
export const storeMissing = (
  deps: KcpControllerDeps,
  { missing: { bindings, others } }: Initialization,
  more: readonly StoreChange[] = [],
): Promise<void> => storeDefaults(deps, bindings, [...more, ...others.map(creationOf)])

function missingNamespace(
  { informers, rootCA }: KcpControllerDeps,
  cluster: ClusterName,
  name: string,
): readonly Manifest[] {
  const isThere = informers.for(resources.namespaces).get(cluster, '', name) !== undefined
  return isThere ? [] : [namespace(cluster, name), ...namespaceContent(cluster, name, rootCA)]
}

export const adminBinding = 'workspace-admin'

/** The creator of the workspace is bound to `cluster-admin`; a deleted binding is created again. */
export function missingAdmin(
  { informers }: KcpControllerDeps,
  cluster: ClusterName,
  { spec, metadata }: LogicalCluster,
): readonly Manifest[] {
  const admins = informers.for(resources.clusterRoleBindings)
  if (admins.get(cluster, '', adminBinding) !== undefined) return []
  const owner = spec?.createdBy?.username ?? readOwner(metadata.annotations?.[ownerAnnotation])?.username
  if (owner === undefined) return []
  const object = userBinding(adminBinding, 'cluster-admin', owner)
  return [{ cluster, resource: resources.clusterRoleBindings, object }]
}
