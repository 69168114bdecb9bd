import type { KubeObject } from '../../../framework/index.ts'
import type { ClaimedResource, ExportReference } from '../../../openapi/index.ts'

/** A label selector as objects carry it; `matchAll` is kcp's addition. */
export interface ClaimSelector {
  readonly matchAll?: boolean
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
    readonly values?: readonly string[]
  }[]
}

/** `APIExport.spec.permissionClaims[]`, v1alpha2. */
export interface PermissionClaim extends ClaimedResource {
  readonly verbs: readonly string[]
}

/** `APIBinding.spec.permissionClaims[]`, v1alpha2. */
export interface AcceptablePermissionClaim extends PermissionClaim {
  readonly state: 'Accepted' | 'Rejected'
  readonly selector: ClaimSelector
}

/** `APIExport.spec.resources[]`, v1alpha2. */
export interface ExportedResource {
  readonly name: string
  readonly group: string
  readonly schema: string
  readonly storage?: {
    readonly virtual?: {
      readonly identityHash: string
      readonly reference: { readonly apiGroup?: string; readonly kind: string; readonly name: string }
    }
  }
}

/** The parts of an APIExport v1alpha2 that views read. */
export interface APIExport extends KubeObject {
  readonly spec?: {
    readonly resources?: readonly ExportedResource[]
    readonly permissionClaims?: readonly PermissionClaim[]
    readonly maximalPermissionPolicy?: { readonly local?: object }
  }
  readonly status?: { readonly identityHash?: string }
}

/** The parts of an APIBinding v1alpha2 that views read. */
export interface APIBinding extends KubeObject {
  readonly spec: {
    readonly reference: { readonly export?: { readonly path?: string; readonly name: string } }
    readonly permissionClaims?: readonly AcceptablePermissionClaim[]
  }
  readonly status?: {
    readonly phase?: string
    readonly apiExportClusterName?: string
    readonly boundResources?: readonly {
      readonly group: string
      readonly resource: string
      readonly schema?: { readonly identityHash?: string }
    }[]
  }
}

/** The parts of an endpoint slice, of either kind, that are read and written. */
export interface EndpointSlice extends KubeObject {
  readonly spec: { readonly export: { readonly path?: string; readonly name: string } }
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly endpoints?: readonly { readonly url: string }[]
  }
}

/** The params of the view's path: whose export, and its name. */
export type ExportParams = { readonly provider: string; readonly name: string }

export const exportOf = ({ provider, name }: ExportParams): ExportReference => ({ cluster: provider, name })

/** The logical cluster that an object says it is in. */
export const clusterOf = ({ metadata }: KubeObject): string => metadata.annotations?.['kcp.io/cluster'] ?? ''
