import type {
  AcceptablePermissionClaim,
  ClaimedResource,
  PermissionClaimSelector,
  PermissionClaimV1alpha1,
} from '../../kcp/claims.ts'
import { claimKey } from './overhang.ts'

type WithState = Pick<AcceptablePermissionClaim, 'state'>

const anyVerb: readonly string[] = ['*']

const hasAnyVerb = (claim: AcceptablePermissionClaim): boolean =>
  claim.verbs?.length === 1 && claim.verbs[0] === '*'

const isMatchAll = (selector: PermissionClaimSelector | undefined): boolean =>
  selector?.matchAll === true && selector.matchLabels === undefined && selector.matchExpressions === undefined

/** Whether a claim of an export has verbs or a default selector that v1alpha1 cannot express. */
export const exceedsV1Export = (claim: AcceptablePermissionClaim): boolean =>
  !hasAnyVerb(claim) || claim.defaultSelector !== undefined

/** Whether an accepted claim has verbs or a selector that v1alpha1 cannot express. */
export const exceedsV1Binding = (claim: AcceptablePermissionClaim): boolean =>
  !hasAnyVerb(claim) || !isMatchAll(claim.selector)

/** Finds the entry for the same resource. */
export function finder<T extends ClaimedResource>(
  list: readonly T[],
): (claim: ClaimedResource) => T | undefined {
  const byKey = new Map(list.map(claim => [claimKey(claim), claim]))
  return claim => byKey.get(claimKey(claim))
}

const identityOf = ({ group, resource, identityHash }: ClaimedResource): ClaimedResource => ({
  ...(group === undefined ? {} : { group }),
  resource,
  ...(identityHash === undefined ? {} : { identityHash }),
})

const stateOf = ({ state }: WithState): WithState => (state === undefined ? {} : { state })

export function exportClaimToV2(
  claim: PermissionClaimV1alpha1,
  kept: AcceptablePermissionClaim | undefined,
): AcceptablePermissionClaim {
  const selector = kept?.defaultSelector
  return {
    ...identityOf(claim),
    verbs: kept?.verbs ?? anyVerb,
    ...(selector === undefined ? {} : { defaultSelector: selector }),
  }
}

/** `all` and `resourceSelector` are restored from the values that a v1alpha1 client wrote. */
export function exportClaimToV1(
  claim: AcceptablePermissionClaim,
  original: PermissionClaimV1alpha1 | undefined,
): PermissionClaimV1alpha1 {
  return {
    ...identityOf(claim),
    ...(original?.all === undefined ? {} : { all: original.all }),
    ...(original?.resourceSelector === undefined ? {} : { resourceSelector: original.resourceSelector }),
  }
}

export function bindingClaimToV2(
  claim: PermissionClaimV1alpha1,
  kept: AcceptablePermissionClaim | undefined,
): AcceptablePermissionClaim {
  return {
    ...identityOf(claim),
    verbs: kept?.verbs ?? anyVerb,
    selector: claim.all === true ? { matchAll: true } : (kept?.selector ?? { matchAll: true }),
    ...stateOf(claim),
  }
}

export function bindingClaimToV1(
  claim: AcceptablePermissionClaim,
  original: PermissionClaimV1alpha1 | undefined,
): PermissionClaimV1alpha1 {
  const selected = original?.resourceSelector !== undefined && isMatchAll(claim.selector)
  const scope = selected
    ? {
        ...(original.all === undefined ? {} : { all: original.all }),
        resourceSelector: original.resourceSelector,
      }
    : { ...(claim.selector?.matchAll === undefined ? {} : { all: claim.selector.matchAll }) }
  return { ...identityOf(claim), ...scope, ...stateOf(claim) }
}
