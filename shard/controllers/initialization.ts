import type { ClusterName } from '../../framework/object.ts'
import { createIfMissing } from './client.ts'
import { type ConditionState, conditionIs } from './conditions.ts'
import { bindingsInitialized, initializeBindings } from './defaultbindings.ts'
import type { KcpControllerDeps } from './deps.ts'
import { bindingsInitializer } from './logicalclustercreation.ts'
import { type LogicalCluster, resources } from './objects.ts'

/** What the server's own initializers got done. */
export interface Initialization {
  /** Identifiers of initializers that are through. */
  readonly finished: readonly string[]
  /** How the default bindings are; undefined when none is wanted. */
  readonly bindings: ConditionState | undefined
}

const universal = 'root:universal'
const universalNamespaces = ['default', 'kube-system']

/** Whether the server itself does what this initializer is for. */
export const isBuiltin = (initializer: string): boolean =>
  initializer === universal || initializer === bindingsInitializer

/** Whether a moment's work of the server's own is all that is left to do: nothing to tell anybody about. */
export const isBrief = ({ status }: LogicalCluster): boolean =>
  status?.phase === 'Initializing' &&
  (status.initializers ?? []).every(isBuiltin) &&
  !conditionIs(status.conditions, bindingsInitialized, 'False')

/** The initializers that are built in: `root:universal` and `system:apibindings` (chapter 20, section 3.8). */
export async function initialize(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  object: LogicalCluster,
): Promise<Initialization> {
  const wanted = object.status?.initializers ?? []
  const namespaces = wanted.includes(universal) ? universalNamespaces : []
  const [bindings] = await Promise.all([
    wanted.includes(bindingsInitializer) ? initializeBindings(deps, cluster, object) : undefined,
    ...namespaces.map(name => createNamespace(deps, cluster, name)),
  ])
  const finished = [
    ...(wanted.includes(universal) ? [universal] : []),
    ...(bindings?.status === 'True' ? [bindingsInitializer] : []),
  ]
  return { finished, bindings }
}

async function createNamespace(
  { client, informers }: KcpControllerDeps,
  cluster: ClusterName,
  name: string,
): Promise<void> {
  if (informers.for(resources.namespaces).get(cluster, '', name) !== undefined) return
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await createIfMissing(client, resources.namespaces, cluster, namespace)
}
