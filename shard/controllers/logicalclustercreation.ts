import type { ClusterName, KubeObject } from '../../framework/object.ts'
import { readOwner } from '../admission/kcp/owner.ts'
import type { LocatedType } from '../directory.ts'
import {
  ownerAnnotation,
  pathAnnotation,
  phaseLabel,
  requiredGroupsAnnotation,
  resourceBindingsAnnotation,
  shardAnnotation,
  typeAnnotation,
} from '../metadata.ts'
import { createIfMissing } from './client.ts'
import { type LogicalCluster, logicalClusterName, resources, type Workspace } from './objects.ts'
import type { WorkspaceStep } from './workspacestep.ts'

/** The initializer that makes default bindings; every type with such bindings has it. */
export const bindingsInitializer = 'system:apibindings'

/** What a type's initializer is called: by the name, not the path, of the cluster where the type is. */
const initializerOf = ({ cluster, type }: LocatedType): string => `${cluster}:${type.metadata.name ?? ''}`

/** Bases first, default bindings last (chapter 20, section 3.5). */
function initializersOf(types: readonly LocatedType[]): readonly string[] {
  const own = types.filter(({ type }) => type.spec?.initializer === true).map(initializerOf)
  const hasBindings = types.some(({ type }) => (type.spec?.defaultAPIBindings ?? []).length > 0)
  return hasBindings ? [...own, bindingsInitializer] : own
}

/** Creates the logical cluster of a workspace. False: somebody else has a cluster of that name. */
export async function createLogicalCluster(
  step: WorkspaceStep,
  workspace: Workspace,
  cluster: ClusterName,
): Promise<boolean> {
  const { client, informers } = step.deps
  const object = logicalClusterOf(step, workspace)
  if (await createIfMissing(client, resources.logicalClusters, cluster, object)) return true
  const known = informers.for(resources.logicalClusters).get(cluster, '', logicalClusterName)?.object
  return (known as LogicalCluster | undefined)?.spec?.owner?.uid === workspace.metadata.uid
}

function logicalClusterOf({ deps, parent, name }: WorkspaceStep, workspace: Workspace): LogicalCluster {
  const { annotations = {}, uid = '' } = workspace.metadata
  const type = workspace.spec?.type
  const located = type?.name
    ? deps.directory.workspaceType({ name: type.name, ...(type.path ? { path: type.path } : {}) }, parent)
    : undefined
  const createdBy = readOwner(annotations[ownerAnnotation])
  const inherited = [ownerAnnotation, requiredGroupsAnnotation].flatMap(key => {
    const value = annotations[key]
    return value === undefined ? [] : [[key, value] as const]
  })
  const apiVersion = 'tenancy.kcp.io/v1alpha1'
  return {
    apiVersion: 'core.kcp.io/v1alpha1',
    kind: 'LogicalCluster',
    metadata: {
      name: logicalClusterName,
      labels: { [phaseLabel]: 'Scheduling' },
      annotations: {
        ...Object.fromEntries(inherited),
        [typeAnnotation]: `${type?.path ?? ''}:${type?.name ?? ''}`,
        [shardAnnotation]: deps.shard.name,
        [pathAnnotation]: `${deps.directory.path(parent)}:${name}`,
        [resourceBindingsAnnotation]: '{}',
      },
    },
    spec: {
      owner: { apiVersion, resource: 'workspaces', name, cluster: parent, uid },
      ...(createdBy === undefined ? {} : { createdBy }),
      initializers: located === undefined ? [] : initializersOf(deps.directory.typeChain(located)),
    },
  }
}

/** Once Ready, the owner annotation is the user's name only (chapter 20, section 3.3). */
export function reducedOwner<T extends KubeObject>(object: T, phase: string): T {
  const { [ownerAnnotation]: annotation, ...annotations } = object.metadata.annotations ?? {}
  if (phase !== 'Ready' || annotation === undefined) return object
  const owner = readOwner(annotation)
  const reduced =
    owner === undefined ? {} : { [ownerAnnotation]: JSON.stringify({ username: owner.username }) }
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, ...reduced } } }
}
