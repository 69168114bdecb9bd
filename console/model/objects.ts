/** The fields of objects that the console shows. */
export interface Meta {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly annotations?: Readonly<Record<string, string>>
}

export interface ShownCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

export interface ShownObject {
  readonly metadata: Meta
}

export interface WorkspaceObject extends ShownObject {
  readonly spec?: {
    readonly cluster?: string
    readonly URL?: string
    readonly type?: { readonly name?: string; readonly path?: string }
    readonly mount?: {
      readonly type?: string
      readonly ref?: { readonly kind?: string; readonly name?: string }
    }
  }
  readonly status?: { readonly phase?: string; readonly conditions?: readonly ShownCondition[] }
}

export interface LogicalClusterObject extends ShownObject {
  readonly status?: {
    readonly phase?: string
    readonly URL?: string
    readonly conditions?: readonly ShownCondition[]
  }
}

export interface ShownClaim {
  readonly group?: string
  readonly resource: string
  readonly verbs?: readonly string[]
  readonly identityHash?: string
  /** Of bindings: `Accepted` or `Rejected`. */
  readonly state?: string
}

export interface ExportObject extends ShownObject {
  readonly spec?: {
    readonly resources?: readonly { readonly group: string; readonly name: string; readonly schema: string }[]
    readonly permissionClaims?: readonly ShownClaim[]
  }
  readonly status?: { readonly identityHash?: string; readonly conditions?: readonly ShownCondition[] }
}

export interface EndpointSliceObject extends ShownObject {
  readonly spec?: { readonly export?: { readonly name?: string; readonly path?: string } }
  readonly status?: { readonly endpoints?: readonly { readonly url: string }[] }
}

export interface BindingObject extends ShownObject {
  readonly spec?: {
    readonly reference?: { readonly export?: { readonly name?: string; readonly path?: string } }
    readonly permissionClaims?: readonly ShownClaim[]
  }
  readonly status?: {
    readonly phase?: string
    readonly boundResources?: readonly { readonly group: string; readonly resource: string }[]
    readonly conditions?: readonly ShownCondition[]
  }
}

/** The annotation of objects in views: the name of their logical cluster. */
export const clusterAnnotation = 'kcp.io/cluster'
export const pathAnnotation = 'kcp.io/path'

export const paths = {
  workspaces: (path: string) => `/clusters/${path}/apis/tenancy.kcp.io/v1alpha1/workspaces`,
  logicalCluster: (path: string) => `/clusters/${path}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster`,
  exports: (path: string) => `/clusters/${path}/apis/apis.kcp.io/v1alpha2/apiexports`,
  slices: (path: string) => `/clusters/${path}/apis/apis.kcp.io/v1alpha1/apiexportendpointslices`,
  bindings: (path: string) => `/clusters/${path}/apis/apis.kcp.io/v1alpha2/apibindings`,
} as const
