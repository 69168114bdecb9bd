import type { PolicyRule } from '../../../authz/index.ts'
import type { KubeObject, UserInfo } from '../../../framework/index.ts'

/** The params of both views' paths: the initializer or terminator, `<logical cluster>:<type>` or `system:…`. */
export type LifecycleParams = { readonly identifier: string }

/** The parts of a LogicalCluster that the views read. */
export interface LogicalCluster extends KubeObject {
  readonly spec?: {
    /** Who made the workspace. */
    readonly createdBy?: {
      readonly username: string
      readonly uid?: string
      readonly groups?: UserInfo['groups']
      readonly extra?: NonNullable<UserInfo['extra']>
    }
  }
  readonly status?: {
    readonly phase?: string
    readonly initializers?: readonly string[]
    readonly terminators?: readonly string[]
    readonly conditions?: readonly object[]
  }
}

/** The parts of a WorkspaceType that the views read and write. */
export interface WorkspaceType extends KubeObject {
  readonly spec?: {
    readonly initializerPermissions?: readonly PolicyRule[]
    readonly terminatorPermissions?: readonly PolicyRule[]
  }
  readonly status?: {
    readonly virtualWorkspaces?: readonly PublishedUrl[]
  }
}

/** `WorkspaceType.status.virtualWorkspaces[]` */
export interface PublishedUrl {
  readonly url: string
  readonly type?: 'initializing' | 'terminating'
}
