import type { LabelRequirement, ResourceStorage } from '../../../framework/index.ts'
import type { LogicalCluster } from '../../../kcp/index.ts'

/** The params of both views' paths: the initializer or terminator, `<logical cluster>:<type>` or `system:…`. */
export type LifecycleParams = { readonly identifier: string }

/** What tells one end of a workspace's life from the other. Everything else the two views have in common. */
export interface Stage {
  /** `type` of the URLs in `WorkspaceType.status.virtualWorkspaces`. */
  readonly name: 'initializing' | 'terminating'
  /** What somebody who has to finish is called: `status.<role>s`, `spec.<role>Permissions`, `system:kcp:<role>:…`. */
  readonly role: 'initializer' | 'terminator'
  /** The verb on the WorkspaceType that makes a user one. */
  readonly verb: 'initialize' | 'terminate'
  /** Labels of the LogicalClusters that wait for `identifier`. */
  waiting(identifier: string): readonly LabelRequirement[]
  /** Whether it is the time for this stage's work; who still has to work is in the status. */
  isAt(cluster: LogicalCluster): boolean
  /** What labels cannot say of who waits. */
  only?(storage: ResourceStorage<LifecycleParams>): ResourceStorage<LifecycleParams>
  /** The group that kcp names in refusals. */
  readonly refusalGroup: string
}

/** Who has not finished yet, of this stage. */
export const remaining = ({ role }: Stage, { status }: LogicalCluster): readonly string[] =>
  status?.[`${role}s`] ?? []

/** How decisions of the view are signed. */
export const authorizerOf = ({ name }: Stage): string => `virtual.${name}workspaces`

/** Whether `identifier` has work to do in the logical cluster. */
export const waitsFor = (
  stage: Stage,
  cluster: LogicalCluster | undefined,
  identifier: string,
): cluster is LogicalCluster =>
  cluster !== undefined && stage.isAt(cluster) && remaining(stage, cluster).includes(identifier)

/** A workspace type by the logical cluster (not the path) where it is. */
export interface TypeReference {
  readonly cluster: string
  readonly name: string
}

/** Split at the last colon; undefined when there is none. */
export function typeOf({ identifier }: LifecycleParams): TypeReference | undefined {
  const colon = identifier.lastIndexOf(':')
  if (colon < 1 || colon === identifier.length - 1) return undefined
  return { cluster: identifier.slice(0, colon), name: identifier.slice(colon + 1) }
}

/** Initializers of the server itself belong to no type. */
export const isSystem = ({ identifier }: LifecycleParams): boolean => identifier.startsWith('system:')
