import { isDeepStrictEqual } from 'node:util'
import type { AcceptablePermissionClaim, PermissionClaim } from '../../../kcp/claims.ts'
import { type ConditionState, isFalse, isTrue } from '../../../kcp/conditions.ts'
import { claimKey } from '../../conversion/overhang.ts'

/** The applied permission claims of a binding, and its conditions. */
export interface ClaimsResult {
  readonly applied: readonly PermissionClaim[]
  readonly conditions: readonly [valid: ConditionState, applied: ConditionState]
}

/**
 * Claims of the export that the binding accepts are applied as accepted. `isServed`: whether the resource exists.
 */
export function applyClaims(
  exported: readonly PermissionClaim[],
  decided: readonly AcceptablePermissionClaim[],
  isServed: (claim: PermissionClaim) => boolean,
): ClaimsResult {
  const wanted = new Map(exported.map(claim => [claimKey(claim), claim]))
  const accepted = decided.filter(claim => claim.state === 'Accepted')
  const expected = accepted.filter(claim => wanted.has(claimKey(claim)))
  const applied = expected
    .filter(isServed)
    .toSorted((a, b) => (claimKey(a) < claimKey(b) ? -1 : 1))
    .map(({ state: _, ...claim }): PermissionClaim => claim)
  return { applied, conditions: [validity(wanted, accepted), application(expected, isServed)] }
}

const printed = ({ resource, group }: PermissionClaim): string => `${resource}.${group ?? ''}`

/** The first `most` entries of a list, and their number. */
function counted(list: readonly string[], most: number, what: string): string {
  const shown = list.slice(0, most)
  return `${list.length} ${what} (showing first ${shown.length}): ${shown.join(', ')}`
}

function validity(
  wanted: ReadonlyMap<string, PermissionClaim>,
  accepted: readonly AcceptablePermissionClaim[],
): ConditionState {
  const mismatched = accepted.flatMap(claim => mismatch(claim, wanted.get(claimKey(claim))) ?? [])
  if (mismatched.length > 0) {
    const message = counted(mismatched, 5, 'permission claim(s) have mismatched verbs or selectors')
    return isFalse('PermissionClaimsValid', 'Warning', 'PermissionClaimsMismatch', message)
  }
  const unexpected = accepted
    .filter(claim => !wanted.has(claimKey(claim)))
    .map(claim => `unexpected/invalid claim for ${printed(claim)} (identity "${claim.identityHash ?? ''}")`)
  if (unexpected.length === 0) return isTrue('PermissionClaimsValid')
  const message = counted(unexpected, 10, 'unexpected and/or invalid permission claims')
  return isFalse('PermissionClaimsValid', 'Error', 'InvalidPermissionClaims', message)
}

/** How an accepted claim differs from that of the export. */
function mismatch(
  claim: AcceptablePermissionClaim,
  exported: PermissionClaim | undefined,
): string | undefined {
  if (exported === undefined) return undefined
  const [mine, theirs] = [claim.verbs ?? [], exported.verbs ?? []]
  const differences = [
    ...(isDeepStrictEqual(mine.toSorted(), theirs.toSorted())
      ? []
      : [`verbs: accepted [${mine.join(' ')}], exported [${theirs.join(' ')}]`]),
    ...(exported.defaultSelector === undefined || isDeepStrictEqual(claim.selector, exported.defaultSelector)
      ? []
      : ['selector differs from defaultSelector']),
  ]
  return differences.length === 0 ? undefined : `${printed(claim)} (${differences.join('; ')})`
}

function application(
  expected: readonly AcceptablePermissionClaim[],
  isServed: (claim: PermissionClaim) => boolean,
): ConditionState {
  const missing = expected
    .filter(claim => !isServed(claim))
    .map(claim => `unable to find informer for ${printed(claim)}`)
  if (missing.length === 0) return isTrue('PermissionClaimsApplied')
  const message = `Permission claims have not been fully applied: ${missing.slice(0, 10).join(', ')}`
  return isFalse('PermissionClaimsApplied', 'Error', 'InternalError', message)
}
