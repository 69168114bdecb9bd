import type { KubeObject } from '../../framework/meta/object.ts'
import type { AcceptablePermissionClaim, PermissionClaimV1alpha1 } from '../../kcp/claims.ts'
import {
  bindingClaimToV1,
  bindingClaimToV2,
  exceedsV1Binding,
  exceedsV1Export,
  exportClaimToV1,
  exportClaimToV2,
  finder,
} from './claims.ts'
import { type OverhangKey, overhang, peekOverhang, readOverhang, withOverhang } from './overhang.ts'

/** A list of claims in both versions. */
interface ClaimList {
  readonly part: 'spec' | 'status'
  readonly field: 'permissionClaims' | 'exportPermissionClaims' | 'appliedPermissionClaims'
  /** The annotation of v1alpha1 with the fields that only v1alpha2 has. */
  readonly v2Key: OverhangKey
  /** The annotation of v1alpha2 with the fields that only v1alpha1 has. */
  readonly v1Key: OverhangKey
  readonly toV2: (
    claim: PermissionClaimV1alpha1,
    kept: AcceptablePermissionClaim | undefined,
  ) => AcceptablePermissionClaim
  readonly toV1: (
    claim: AcceptablePermissionClaim,
    original: PermissionClaimV1alpha1 | undefined,
  ) => PermissionClaimV1alpha1
  readonly exceedsV1: (claim: AcceptablePermissionClaim) => boolean
  readonly exceedsV2: (claim: PermissionClaimV1alpha1) => boolean
}

const accepted = {
  toV2: bindingClaimToV2,
  toV1: bindingClaimToV1,
  exceedsV1: exceedsV1Binding,
  exceedsV2: (claim: PermissionClaimV1alpha1): boolean => claim.resourceSelector !== undefined,
}

const exported = {
  toV2: exportClaimToV2,
  toV1: exportClaimToV1,
  exceedsV1: exceedsV1Export,
  exceedsV2: (claim: PermissionClaimV1alpha1): boolean =>
    claim.all !== undefined || claim.resourceSelector !== undefined,
}

const lists: readonly ClaimList[] = [
  {
    part: 'spec',
    field: 'permissionClaims',
    v2Key: overhang.bindingClaims,
    v1Key: overhang.v1Claims,
    ...accepted,
  },
  {
    part: 'status',
    field: 'exportPermissionClaims',
    v2Key: overhang.statusExportClaims,
    v1Key: overhang.v1StatusExportClaims,
    ...exported,
  },
  {
    part: 'status',
    field: 'appliedPermissionClaims',
    v2Key: overhang.statusAppliedClaims,
    v1Key: overhang.v1StatusAppliedClaims,
    ...accepted,
  },
]

/** v1alpha1 as v1alpha2. Throws 403 when an overhang annotation cannot be read. */
export const apiBindingToV2 = (object: KubeObject): KubeObject =>
  lists.reduce(listToV2, { ...object, apiVersion: 'apis.kcp.io/v1alpha2' })

/** v1alpha2 as v1alpha1. Never fails: stored objects must stay readable. */
export const apiBindingToV1 = (object: KubeObject): KubeObject =>
  lists.reduce(listToV1, { ...object, apiVersion: 'apis.kcp.io/v1alpha1' })

function listToV2(object: KubeObject, list: ClaimList): KubeObject {
  const claims = claimsOf<PermissionClaimV1alpha1>(object, list)
  const kept = finder(readOverhang<AcceptablePermissionClaim>(object, list.v2Key))
  const converted = claims?.map(claim => list.toV2(claim, kept(claim)))
  const original = claims?.filter(list.exceedsV2) ?? []
  return withOverhang(withClaims(object, list, converted), [list.v2Key, list.v1Key], {
    [list.v1Key]: original,
  })
}

function listToV1(object: KubeObject, list: ClaimList): KubeObject {
  const claims = claimsOf<AcceptablePermissionClaim>(object, list)
  const original = finder(peekOverhang<PermissionClaimV1alpha1>(object, list.v1Key))
  const converted = claims?.map(claim => list.toV1(claim, original(claim)))
  const excess = claims?.filter(list.exceedsV1) ?? []
  return withOverhang(withClaims(object, list, converted), [list.v2Key, list.v1Key], { [list.v2Key]: excess })
}

const claimsOf = <T>(object: KubeObject, list: ClaimList): readonly T[] | undefined =>
  (object[list.part] as Record<string, readonly T[] | undefined> | undefined)?.[list.field]

function withClaims(
  object: KubeObject,
  list: ClaimList,
  claims: readonly (PermissionClaimV1alpha1 | AcceptablePermissionClaim)[] | undefined,
): KubeObject {
  if (claims === undefined) return object
  return { ...object, [list.part]: { ...(object[list.part] as object), [list.field]: claims } }
}
