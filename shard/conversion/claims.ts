import type { ClaimIdentity, ClaimSelector, ClaimV1, ClaimV2 } from '../../kcp/claims.ts'
import { claimKey } from './overhang.ts'

const anyVerb: readonly string[] = ['*']

const hasAnyVerb = (claim: ClaimV2): boolean => claim.verbs?.length === 1 && claim.verbs[0] === '*'

const isMatchAll = (selector: ClaimSelector | undefined): boolean =>
  selector?.matchAll === true && selector.matchLabels === undefined && selector.matchExpressions === undefined

/** What v1alpha1 cannot say of an export's claim: its verbs and its default selector. */
export const exceedsV1Export = (claim: ClaimV2): boolean =>
  !hasAnyVerb(claim) || claim.defaultSelector !== undefined

/** What v1alpha1 cannot say of an accepted claim: its verbs and any selector but matchAll. */
export const exceedsV1Binding = (claim: ClaimV2): boolean => !hasAnyVerb(claim) || !isMatchAll(claim.selector)

/** Looks up the entry for the same resource. */
export function finder<T extends ClaimIdentity>(list: readonly T[]): (claim: ClaimIdentity) => T | undefined {
  const byKey = new Map(list.map(claim => [claimKey(claim), claim]))
  return claim => byKey.get(claimKey(claim))
}

const identityOf = ({ group, resource, identityHash }: ClaimIdentity): ClaimIdentity => ({
  ...(group === undefined ? {} : { group }),
  resource,
  ...(identityHash === undefined ? {} : { identityHash }),
})

const stateOf = ({ state }: { readonly state?: string }): { state?: string } =>
  state === undefined ? {} : { state }

export function exportClaimToV2(claim: ClaimV1, kept: ClaimV2 | undefined): ClaimV2 {
  const selector = kept?.defaultSelector
  return {
    ...identityOf(claim),
    verbs: kept?.verbs ?? anyVerb,
    ...(selector === undefined ? {} : { defaultSelector: selector }),
  }
}

/** `all` and `resourceSelector` come back only from what a v1alpha1 client once wrote. */
export function exportClaimToV1(claim: ClaimV2, original: ClaimV1 | undefined): ClaimV1 {
  return {
    ...identityOf(claim),
    ...(original?.all === undefined ? {} : { all: original.all }),
    ...(original?.resourceSelector === undefined ? {} : { resourceSelector: original.resourceSelector }),
  }
}

export function bindingClaimToV2(claim: ClaimV1, kept: ClaimV2 | undefined): ClaimV2 {
  return {
    ...identityOf(claim),
    verbs: kept?.verbs ?? anyVerb,
    selector: claim.all === true ? { matchAll: true } : (kept?.selector ?? { matchAll: true }),
    ...stateOf(claim),
  }
}

export function bindingClaimToV1(claim: ClaimV2, original: ClaimV1 | undefined): ClaimV1 {
  const selected = original?.resourceSelector !== undefined && isMatchAll(claim.selector)
  const scope = selected
    ? {
        ...(original.all === undefined ? {} : { all: original.all }),
        resourceSelector: original.resourceSelector,
      }
    : { ...(claim.selector?.matchAll === undefined ? {} : { all: claim.selector.matchAll }) }
  return { ...identityOf(claim), ...scope, ...stateOf(claim) }
}
