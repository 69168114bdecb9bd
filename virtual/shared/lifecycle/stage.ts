import type { ResourceStorage } from '../../../framework/index.ts'
import type { LabelRequirement } from '../../../framework/selectors/selectors.ts'
import type { LogicalCluster } from '../../../kcp/index.ts'

/** The params of both views' paths: the initializer or terminator, `<logical cluster>:<type>` or `system:…`. */
export type LifecycleParams = { readonly identifier: string }

/** The differences between the views of initializers and terminators. */
export interface Stage {
  /** `type` of the URLs in `WorkspaceType.status.virtualWorkspaces`. */
  readonly name: 'initializing' | 'terminating'
  /** The role: `status.<role>s`, `spec.<role>Permissions`, `system:kcp:<role>:…`. */
  readonly role: 'initializer' | 'terminator'
  /** The verb on the WorkspaceType that the view needs. */
  readonly verb: 'initialize' | 'terminate'
  /** Selects the LogicalClusters that have the initializer or terminator `identifier`. */
  waiting(identifier: string): readonly LabelRequirement[]
  /** Whether the LogicalCluster is in this stage. */
  isAt(cluster: LogicalCluster): boolean
  /** A filter that labels cannot express. */
  only?(storage: ResourceStorage<LifecycleParams>): ResourceStorage<LifecycleParams>
  /** The API group in error messages of kcp. */
  readonly refusalGroup: string
}

/** The remaining initializers or terminators. */
export const remaining = ({ role }: Stage, { status }: LogicalCluster): readonly string[] =>
  status?.[`${role}s`] ?? []

/** The authorizer name in decisions of the view. */
export const authorizerOf = ({ name }: Stage): string => `virtual.${name}workspaces`

/** Whether the initializer or terminator `identifier` has not finished in the logical cluster. */
export const waitsFor = (
  stage: Stage,
  cluster: LogicalCluster | undefined,
  identifier: string,
): cluster is LogicalCluster =>
  cluster !== undefined && stage.isAt(cluster) && remaining(stage, cluster).includes(identifier)

/** A workspace type, by the name (not the path) of its logical cluster. */
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
