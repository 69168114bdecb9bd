import type { KubeObject } from '../framework/meta/object.ts'
import type { Condition } from './conditions.ts'
import type { LogicalClusterPhase } from './core.ts'
import type { PathReference } from './references.ts'
import type { MetaV1LabelSelector } from './selector.ts'

// The kinds of tenancy.kcp.io: the fields that Oriel reads or writes.

export interface Workspace extends KubeObject {
  readonly spec?: {
    readonly type?: { readonly name?: string; readonly path?: string }
    readonly location?: { readonly selector?: MetaV1LabelSelector }
    readonly cluster?: string
    readonly URL?: string
    readonly mount?: {
      readonly ref?: { readonly apiVersion?: string; readonly kind?: string; readonly name?: string }
    }
  }
  readonly status?: {
    readonly phase?: LogicalClusterPhase
    readonly initializers?: readonly string[]
    readonly terminators?: readonly string[]
    readonly conditions?: readonly Condition[]
  }
}

export interface WorkspaceType extends KubeObject {
  readonly spec?: {
    readonly initializer?: boolean
    readonly terminator?: boolean
    readonly extend?: { readonly with?: readonly PathReference[] }
    readonly additionalWorkspaceLabels?: Readonly<Record<string, string>>
    readonly defaultChildWorkspaceType?: PathReference
    readonly limitAllowedChildren?: WorkspaceTypeSelector
    readonly limitAllowedParents?: WorkspaceTypeSelector
    readonly defaultAPIBindings?: readonly { readonly path?: string; readonly export: string }[]
    readonly defaultAPIBindingLifecycle?: 'InitializeOnly' | 'Maintain'
    /** RBAC policy rules. */
    readonly initializerPermissions?: readonly object[]
    readonly terminatorPermissions?: readonly object[]
    readonly authenticationConfigurations?: readonly { readonly name: string }[]
  }
  readonly status?: {
    readonly virtualWorkspaces?: readonly VirtualWorkspaceUrl[]
    readonly conditions?: readonly Condition[]
  }
}

/** WorkspaceAuthenticationConfigurations of one type: all are searched for the issuer of a token. */
export const mostAuthenticationConfigurations = 16

/** `WorkspaceType.status.virtualWorkspaces[]`. */
export interface VirtualWorkspaceUrl {
  readonly url: string
  readonly type?: 'initializing' | 'terminating'
}

/** `limitAllowedChildren` and `limitAllowedParents`. */
export interface WorkspaceTypeSelector {
  readonly none?: boolean
  readonly types?: readonly PathReference[]
}
