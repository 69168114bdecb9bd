import type { MetaV1LabelSelector } from './selector.ts'

/**
 * The fields that identify a permission claim, in both versions: verbs and selectors do not. An absent group is the core
 * group.
 */
export interface ClaimedResource {
  readonly group?: string
  readonly resource: string
  readonly identityHash?: string
}

/** A label selector, or all objects. */
export interface PermissionClaimSelector extends MetaV1LabelSelector {
  readonly matchAll?: boolean
}

/** `APIExport.spec.permissionClaims[]` of v1alpha2. */
export interface PermissionClaim extends ClaimedResource {
  readonly verbs?: readonly string[]
  readonly defaultSelector?: PermissionClaimSelector
}

/** `APIBinding.spec.permissionClaims[]` of v1alpha2. */
export interface AcceptablePermissionClaim extends PermissionClaim {
  readonly selector?: PermissionClaimSelector
  readonly state?: 'Accepted' | 'Rejected'
}

/** `spec.permissionClaims[]` of v1alpha1; only bindings have a `state`. */
export interface PermissionClaimV1alpha1 extends ClaimedResource {
  readonly all?: boolean
  readonly resourceSelector?: readonly unknown[]
  readonly state?: 'Accepted' | 'Rejected'
}

/** The resources of kcp's `pkg/virtual/apiexport/schemas/builtin`, by group. */
const builtin: Readonly<Record<string, readonly string[]>> = {
  '': ['configmaps', 'events', 'namespaces', 'resourcequotas', 'secrets', 'serviceaccounts'],
  'rbac.authorization.k8s.io': ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'],
  'certificates.k8s.io': ['certificatesigningrequests'],
  'coordination.k8s.io': ['leases'],
  'admissionregistration.k8s.io': [
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ],
  'events.k8s.io': ['events'],
  'apiextensions.k8s.io': ['customresourcedefinitions'],
  'core.kcp.io': ['logicalclusters'],
  'authorization.k8s.io': ['subjectaccessreviews', 'localsubjectaccessreviews'],
  'authentication.k8s.io': ['tokenreviews'],
}

/** Whether the resource is the same in every workspace, so that a permission claim on it needs no identity. */
export const needsNoIdentity = (group: string, resource: string): boolean =>
  group === 'apis.kcp.io' || (builtin[group]?.includes(resource) ?? false)

/** Claims of one APIExport or APIBinding: each is compared with others, and looked up, at each change of them. */
export const mostClaims = 1_000
