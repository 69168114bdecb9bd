import type { KubeObject } from '../framework/meta/object.ts'
import type { AcceptablePermissionClaim, PermissionClaim } from './claims.ts'
import type { Condition } from './conditions.ts'
import type { PathReference } from './references.ts'

// The kinds of apis.kcp.io in their storage versions: the fields that Oriel reads or writes.

export interface ExportedResource {
  readonly name: string
  readonly group: string
  readonly schema: string
  readonly storage?: { readonly crd?: object; readonly virtual?: VirtualStorage }
}

/**
 * `storage.virtual`: the object of the export's workspace that has the URLs, and the identity of the published
 * objects.
 */
export interface VirtualStorage {
  readonly identityHash: string
  readonly reference: { readonly apiGroup?: string; readonly kind: string; readonly name: string }
}

export interface APIExport extends KubeObject {
  readonly spec?: {
    readonly resources?: readonly ExportedResource[]
    readonly identity?: { readonly secretRef?: { readonly name?: string; readonly namespace?: string } }
    readonly maximalPermissionPolicy?: { readonly local?: object }
    readonly permissionClaims?: readonly PermissionClaim[]
  }
  readonly status?: {
    readonly identityHash?: string
    readonly conditions?: readonly Condition[]
    readonly virtualWorkspaces?: readonly object[]
  }
}

export interface BoundAPIResource {
  readonly group: string
  readonly resource: string
  readonly schema: { readonly name: string; readonly UID: string; readonly identityHash: string }
  readonly storageVersions?: readonly string[]
}

export interface APIBinding extends KubeObject {
  readonly spec?: {
    readonly reference?: { readonly export?: PathReference }
    readonly permissionClaims?: readonly AcceptablePermissionClaim[]
  }
  readonly status?: {
    readonly apiExportClusterName?: string
    readonly boundResources?: readonly BoundAPIResource[]
    readonly phase?: 'Binding' | 'Bound' | ''
    readonly exportPermissionClaims?: readonly PermissionClaim[]
    readonly appliedPermissionClaims?: readonly PermissionClaim[]
    readonly conditions?: readonly Condition[]
  }
}

/** `spec.names` of an APIResourceSchema and of a CustomResourceDefinition. */
export interface DefinedNames {
  readonly plural: string
  readonly singular?: string
  readonly kind: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

export interface APIResourceSchema extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly names: DefinedNames
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
