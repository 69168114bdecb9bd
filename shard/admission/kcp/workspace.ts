import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { KubeObject, ObjectKey } from '../../../framework/meta/object.ts'
import { isPrivileged, type UserInfo } from '../../../framework/request/user.ts'
import {
  admittedTypesAnnotation,
  chosenClusterAnnotation,
  mountAnnotation,
  ownerAnnotation,
  requiredGroupsAnnotation,
  shardAnnotation,
  shardHashAnnotation,
} from '../../../kcp/annotations.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { ownerOf } from '../../../kcp/owner.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { mountOf, type WorkspaceMount } from '../../controllers/mounts/mountref.ts'
import { withMetadata } from '../../registry/strategy.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import { placed, placementOf } from '../../tenancy/placement.ts'
import type { RegistryPlugin } from '../chain.ts'
import { concerns, refused } from '../refusal.ts'
import { mirrorWorkspace, withSystemAnnotations } from './metadata.ts'

const workspaces = 'workspaces.tenancy.kcp.io'

/**
 * Sets the creator of a workspace and protects the fields that only the server sets (kcp
 * `pkg/admission/workspace`).
 */
export const workspaceAdmission = (directory: ClusterDirectory): RegistryPlugin => ({
  name: 'tenancy.kcp.io/Workspace',
  handles: { resources: [workspaces] },
  mutate(ctx, request) {
    const { object, old } = request
    if (!concerns(request, workspaces, ['CREATE', 'UPDATE'])) return object
    const privileged = isPrivileged(ctx.actAs)
    const sent = privileged ? object : withSystemAnnotations(object, old, systemAnnotations)
    if (request.operation === 'UPDATE') return sent
    const problem = createProblem(object as Workspace, privileged)
    if (problem !== undefined) throw refused(request, problem)
    return withOrigin(sent, ctx.actAs, directory.logicalCluster(request.key.cluster))
  },
  complete({ group, resource, key, object, old }) {
    if (`${resource}.${group}` !== workspaces) return object
    const workspace = object as Workspace
    return mirrorWorkspace(old === undefined ? begun(directory, key, workspace) : workspace)
  },
  validate(ctx, request) {
    if (!concerns(request, workspaces, ['CREATE', 'UPDATE'])) return
    const warning = mountWarning(request)
    if (warning !== undefined) ctx.record.warn(warning)
    if (request.operation === 'CREATE') return
    const problem = updateProblem(request, isPrivileged(ctx.actAs))
    if (problem !== undefined) throw refused(request, problem)
  },
})

/** The warning about the annotation by which older versions of kcp mounted, when a write sets or changes it. */
function mountWarning({ object, old }: AdmissionAttributes): string | undefined {
  const value = object?.metadata.annotations?.[mountAnnotation]
  if (value === undefined || value === old?.metadata.annotations?.[mountAnnotation]) return undefined
  const consequence = mountOf(object as Workspace) === undefined ? ', the workspace is not a mount' : ''
  return `metadata.annotations[${mountAnnotation}]: ignored${consequence}; use spec.mount instead`
}

/** Annotations that only the server writes: types, logical cluster, shard and creator. */
const systemAnnotations: readonly string[] = [
  admittedTypesAnnotation,
  chosenClusterAnnotation,
  shardAnnotation,
  shardHashAnnotation,
  ownerAnnotation,
]

/** Adds the creator, and the required groups of the parent. */
function withOrigin(object: KubeObject, user: UserInfo, parent: LogicalCluster | undefined): KubeObject {
  const { [requiredGroupsAnnotation]: sent, ...annotations } = object.metadata.annotations ?? {}
  const privileged = isPrivileged(user)
  const inherited = parent?.metadata.annotations?.[requiredGroupsAnnotation]
  const groups = (privileged ? sent : undefined) ?? inherited
  return withMetadata(object, {
    annotations: {
      ...annotations,
      ...(privileged ? {} : { [ownerAnnotation]: JSON.stringify(ownerOf(user)) }),
      ...(groups === undefined ? {} : { [requiredGroupsAnnotation]: groups }),
    },
  })
}

/** Schedules the workspace at its creation; where that fails, the controller tries again. */
function begun(directory: ClusterDirectory, { cluster, name }: ObjectKey, workspace: Workspace): Workspace {
  const begun: Workspace = { ...workspace, status: { phase: 'Scheduling' } }
  if (begun.spec?.mount !== undefined) return begun
  const placement = placementOf(directory, { parent: cluster, name }, begun)
  return 'problem' in placement ? begun : placed(begun, placement)
}

function createProblem({ spec }: Workspace, privileged: boolean): string | undefined {
  if (!privileged && spec?.cluster) return 'spec.Cluster can only be set by system privileged users'
  if (!privileged && spec?.URL) return 'spec.URL can only be set by system privileged users'
  return spec?.mount === undefined ? undefined : mountProblem(spec)
}

function mountProblem({ mount, type }: NonNullable<Workspace['spec']>): string | undefined {
  for (const field of ['kind', 'name', 'apiVersion'] as const) {
    if (!mount?.ref?.[field]) return `spec.mount.${field} must be set`
  }
  return type === undefined ? undefined : 'spec.type cannot be set for mounted workspaces'
}

function updateProblem({ object, old }: AdmissionAttributes, privileged: boolean): string | undefined {
  const next = (object as Workspace).spec ?? {}
  const before = (old as Workspace).spec ?? {}
  if (before.cluster && !next.cluster) return 'spec.cluster cannot be unset'
  if (before.URL && !next.URL) return 'spec.URL cannot be unset'
  if (before.type?.name !== next.type?.name || before.type?.path !== next.type?.path)
    return 'spec.type is immutable'
  if (before.cluster && before.cluster !== next.cluster) return 'spec.cluster is immutable'
  if (privileged) return undefined
  if (before.cluster !== next.cluster) return 'spec.cluster can only be changed by system privileged users'
  if (before.URL !== next.URL) return 'spec.URL can only be changed by system privileged users'
  return undefined
}

/** Validates `spec.mount`, which is immutable (kcp `pkg/admission/workspacemount`). */
export const mountAdmission: AdmissionPlugin = {
  name: 'tenancy.kcp.io/WorkspaceMount',
  handles: { resources: ['workspaces.tenancy.kcp.io'] },
  validate(ctx, request) {
    if (!concerns(request, 'workspaces.tenancy.kcp.io', ['CREATE', 'UPDATE'])) return
    const mount = mountOf(request.object as Workspace)
    const problem =
      request.operation === 'CREATE'
        ? mount && apiVersionProblem(mount)
        : changeProblem(request, isPrivileged(ctx.actAs))
    if (problem !== undefined) throw refused(request, problem)
  },
}

const groupVersion = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?v[0-9]+((alpha|beta)[0-9]+)?$/

const apiVersionProblem = ({ ref }: WorkspaceMount): string | undefined =>
  groupVersion.test(ref.apiVersion)
    ? undefined
    : 'spec.mount.apiVersion must be a version, or a group and a version'

function changeProblem({ object, old }: AdmissionAttributes, privileged: boolean): string | undefined {
  const [before, next] = [mountOf(old as Workspace), mountOf(object as Workspace)]
  if (before === undefined && next === undefined) return undefined
  if (before === undefined || next === undefined) return 'spec.mount is immutable'
  for (const field of ['kind', 'name', 'namespace', 'apiVersion'] as const) {
    if ((before.ref[field] ?? '') !== (next.ref[field] ?? '')) return `spec.mount.${field} is immutable`
  }
  if ((before.type ?? '') !== (next.type ?? '')) return 'spec.mount.type is immutable'
  if ((object as Workspace).spec?.type !== undefined && !privileged)
    return 'spec.type cannot be set for mounted workspaces'
  return undefined
}
