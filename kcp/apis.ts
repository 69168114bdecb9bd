import type { ResourceRef } from '../framework/contract/backend.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import type { ClaimSelector, ClaimV2 } from './claims.ts'
import type { Condition } from './conditions.ts'

/** Shapes of kcp's kinds in their storage versions, as far as controllers and admission read them (chapter 20, section 2). */

export type Phase =
  | 'Scheduling'
  | 'Initializing'
  | 'Ready'
  | 'Unavailable'
  | 'Inactive'
  | 'Terminating'
  | 'Deleting'

/** A reference across workspaces; without a path it means the referring object's own workspace. */
export interface PathReference {
  readonly path?: string
  readonly name: string
}

export interface Workspace extends KubeObject {
  readonly spec?: {
    readonly type?: { readonly name?: string; readonly path?: string }
    readonly location?: { readonly selector?: ClaimSelector }
    readonly cluster?: string
    readonly URL?: string
    readonly mount?: {
      readonly ref?: { readonly apiVersion?: string; readonly kind?: string; readonly name?: string }
    }
  }
  readonly status?: {
    readonly phase?: Phase
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
    readonly limitAllowedChildren?: TypeLimit
    readonly limitAllowedParents?: TypeLimit
    readonly defaultAPIBindings?: readonly { readonly path?: string; readonly export: string }[]
    readonly defaultAPIBindingLifecycle?: 'InitializeOnly' | 'Maintain'
  }
  readonly status?: {
    readonly virtualWorkspaces?: readonly { readonly url: string; readonly type?: string }[]
    readonly conditions?: readonly Condition[]
  }
}

export interface TypeLimit {
  readonly none?: boolean
  readonly types?: readonly PathReference[]
}

/** The identity of whoever made a workspace. */
export interface Creator {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface LogicalCluster extends KubeObject {
  readonly spec?: {
    readonly directlyDeletable?: boolean
    readonly owner?: {
      readonly apiVersion: string
      readonly resource: string
      readonly name: string
      readonly cluster: string
      readonly uid: string
    }
    readonly createdBy?: Creator
    readonly initializers?: readonly string[]
    readonly terminators?: readonly string[]
  }
  readonly status?: {
    readonly phase?: Phase
    readonly URL?: string
    readonly initializers?: readonly string[]
    readonly terminators?: readonly string[]
    readonly conditions?: readonly Condition[]
  }
}

export interface Shard extends KubeObject {
  readonly spec?: {
    readonly baseURL: string
    readonly externalURL?: string
    readonly virtualWorkspaceURL?: string
  }
}

export interface ExportedResource {
  readonly name: string
  readonly group: string
  readonly schema: string
  readonly storage?: { readonly crd?: object; readonly virtual?: VirtualStorage }
}

/** Objects that are read elsewhere: where the URLs are, in the export's workspace, and under which identity. */
export interface VirtualStorage {
  readonly identityHash: string
  readonly reference: { readonly apiGroup?: string; readonly kind: string; readonly name: string }
}

export interface APIExport extends KubeObject {
  readonly spec?: {
    readonly resources?: readonly ExportedResource[]
    readonly identity?: { readonly secretRef?: { readonly name?: string; readonly namespace?: string } }
    readonly maximalPermissionPolicy?: { readonly local?: object }
    readonly permissionClaims?: readonly ClaimV2[]
  }
  readonly status?: {
    readonly identityHash?: string
    readonly conditions?: readonly Condition[]
    readonly virtualWorkspaces?: readonly object[]
  }
}

export interface BoundResource {
  readonly group: string
  readonly resource: string
  readonly schema: { readonly name: string; readonly UID: string; readonly identityHash: string }
  readonly storageVersions?: readonly string[]
}

export interface AcceptableClaim extends ClaimV2 {
  readonly selector?: ClaimSelector
  readonly state?: 'Accepted' | 'Rejected'
}

export interface APIBinding extends KubeObject {
  readonly spec?: {
    readonly reference?: { readonly export?: PathReference }
    readonly permissionClaims?: readonly AcceptableClaim[]
  }
  readonly status?: {
    readonly apiExportClusterName?: string
    readonly boundResources?: readonly BoundResource[]
    readonly phase?: 'Binding' | 'Bound' | ''
    readonly exportPermissionClaims?: readonly ClaimV2[]
    readonly appliedPermissionClaims?: readonly ClaimV2[]
    readonly conditions?: readonly Condition[]
  }
}

export interface APIResourceSchema extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly names: {
      readonly plural: string
      readonly singular?: string
      readonly kind: string
      readonly listKind?: string
      readonly shortNames?: readonly string[]
      readonly categories?: readonly string[]
    }
    readonly scope: 'Cluster' | 'Namespaced'
    readonly nameValidation?: string
    readonly versions: readonly {
      readonly name: string
      readonly storage: boolean
      readonly served: boolean
      readonly schema: object
    }[]
    readonly conversion?: object
  }
}

export interface APIExportEndpointSlice extends KubeObject {
  readonly spec?: { readonly export?: PathReference; readonly partition?: string }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly endpoints?: readonly { readonly url: string }[]
    readonly shardSelector?: string
  }
}

export interface ClusterCachedResource extends KubeObject {
  readonly spec: {
    readonly group?: string
    readonly version?: string
    readonly resource: string
    readonly identity?: { readonly secretRef?: { readonly name?: string; readonly namespace?: string } }
    readonly labelSelector?: ClaimSelector
  }
  readonly status?: {
    readonly identityHash?: string
    readonly phase?: 'Scheduling' | 'Initializing' | 'Ready' | 'Deleting' | 'Deleted'
    readonly resourceCounts?: { readonly cache: number; readonly local: number }
    readonly conditions?: readonly Condition[]
  }
}

export interface ClusterCachedResourceEndpointSlice extends KubeObject {
  readonly spec: {
    readonly clusterCachedResource: PathReference
    readonly export: PathReference
    readonly partition?: string
  }
  readonly status?: APIExportEndpointSlice['status']
}

const apis = 'apis.kcp.io'
const ref = (group: string, version: string, resource: string): ResourceRef => ({ group, version, resource })

/** Resources that are the same in every cluster. Those of tenancy.kcp.io and the like also need an identity. */
export const resources = {
  apiExports: ref(apis, 'v1alpha2', 'apiexports'),
  apiBindings: ref(apis, 'v1alpha2', 'apibindings'),
  apiResourceSchemas: ref(apis, 'v1alpha1', 'apiresourceschemas'),
  endpointSlices: ref(apis, 'v1alpha1', 'apiexportendpointslices'),
  clusterCachedResources: ref('cache.kcp.io', 'v1alpha1', 'clustercachedresources'),
  cachedResourceSlices: ref('cache.kcp.io', 'v1alpha1', 'clustercachedresourceendpointslices'),
  logicalClusters: ref('core.kcp.io', 'v1alpha1', 'logicalclusters'),
  crds: ref('apiextensions.k8s.io', 'v1', 'customresourcedefinitions'),
  namespaces: ref('', 'v1', 'namespaces'),
  secrets: ref('', 'v1', 'secrets'),
  configMaps: ref('', 'v1', 'configmaps'),
  resourceQuotas: ref('', 'v1', 'resourcequotas'),
  serviceAccounts: ref('', 'v1', 'serviceaccounts'),
  clusterRoles: ref('rbac.authorization.k8s.io', 'v1', 'clusterroles'),
  clusterRoleBindings: ref('rbac.authorization.k8s.io', 'v1', 'clusterrolebindings'),
} as const

/** The name of the one LogicalCluster of each cluster. */
export const logicalClusterName = 'cluster'
