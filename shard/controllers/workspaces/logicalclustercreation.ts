import type { ClusterName } from '../../../framework/meta/object.ts'
import {
  admittedTypesAnnotation,
  ownerAnnotation,
  pathAnnotation,
  requiredGroupsAnnotation,
  resourceBindingsAnnotation,
  shardAnnotation,
  typeAnnotation,
} from '../../../kcp/annotations.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { logicalClusterName } from '../../../kcp/logicalclusters.ts'
import { readOwner } from '../../../kcp/owner.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { admittedBy } from '../../tenancy/admittedtypes.ts'
import { idOf, type LocatedType, TypesInvalid, typeName } from '../../tenancy/typechain.ts'
import { bindingsInitializer } from './initialization.ts'
import { createReady } from './readycreation.ts'
import { homeOf, type WorkspaceStep } from './workspacehome.ts'

/** The initializers (bases first, default bindings last) and terminators of a logical cluster with these types. */
export function lifecycleOf(
  types: readonly LocatedType[],
): Pick<NonNullable<LogicalCluster['spec']>, 'initializers' | 'terminators'> {
  const initializers = types.filter(({ type }) => type.spec?.initializer === true).map(idOf)
  const terminators = types.filter(({ type }) => type.spec?.terminator === true).map(idOf)
  const hasBindings = types.some(({ type }) => (type.spec?.defaultAPIBindings ?? []).length > 0)
  return { initializers: hasBindings ? [...initializers, bindingsInitializer] : initializers, terminators }
}

/**
 * Creates the LogicalCluster of a Workspace, Ready if only the server initializes it. False: the name is already used by another
 * workspace. Throws `TypesInvalid`.
 */
export async function createLogicalCluster(
  step: WorkspaceStep,
  workspace: Workspace,
  cluster: ClusterName,
): Promise<boolean> {
  const object = logicalClusterOf(step, workspace)
  if (await createReady(step, workspace, cluster, object)) return true
  const home = await homeOf(step.deps, workspace, cluster).found(object)
  return home?.spec?.owner?.uid === workspace.metadata.uid
}

function logicalClusterOf(step: WorkspaceStep, workspace: Workspace): LogicalCluster {
  const { deps, parent, name } = step
  const { annotations = {}, uid = '' } = workspace.metadata
  const { path = '', name: type = '' } = workspace.spec?.type ?? {}
  const createdBy = readOwner(annotations[ownerAnnotation])
  const inherited = [ownerAnnotation, requiredGroupsAnnotation, admittedTypesAnnotation].flatMap(key => {
    const value = annotations[key]
    return value === undefined ? [] : [[key, value] as const]
  })
  return {
    apiVersion: 'core.kcp.io/v1alpha1',
    kind: 'LogicalCluster',
    metadata: {
      name: logicalClusterName,
      annotations: {
        ...Object.fromEntries(inherited),
        [typeAnnotation]: `${path}:${type}`,
        [shardAnnotation]: annotations[shardAnnotation] ?? deps.shard.name,
        [pathAnnotation]: `${deps.directory.path(parent)}:${name}`,
        [resourceBindingsAnnotation]: '{}',
      },
    },
    spec: {
      directlyDeletable: false,
      owner: { apiVersion: 'tenancy.kcp.io/v1alpha1', resource: 'workspaces', name, cluster: parent, uid },
      ...(createdBy === undefined ? {} : { createdBy }),
      ...lifecycleOf(typesOf(step, workspace)),
    },
  }
}

function typesOf({ deps, parent }: WorkspaceStep, { metadata, spec }: Workspace): readonly LocatedType[] {
  const { path = '', name = '' } = spec?.type ?? {}
  const located = deps.directory.workspaceType({ path, name }, parent)
  if (located === undefined) throw new TypesInvalid(`workspace type "${path}:${name}" cannot be resolved`)
  const types = deps.directory.typeChain(located)
  const isAdmitted = admittedBy(metadata.annotations)
  const other = types.find(type => !isAdmitted(type))
  if (other === undefined) return types
  throw new TypesInvalid(
    `workspace type "${typeName(other)}" is not one of those that the workspace was created with: create the workspace again`,
  )
}
