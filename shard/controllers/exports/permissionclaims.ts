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
  const accepted = decided
    .filter(claim => claim.state === 'Accepted')
    .map((claim): Accepted => {
      const key = claimKey(claim)
      const found = wanted.get(key)
      return { key, claim, exported: found, isApplied: found !== undefined && isServed(claim) }
    })
  const missing = accepted.filter(({ exported, isApplied }) => exported !== undefined && !isApplied)
  const applied = accepted
    .filter(({ isApplied }) => isApplied)
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ claim: { state: _, ...claim } }): PermissionClaim => claim)
  return { applied, conditions: [validity(accepted), application(missing)] }
}

/** An accepted claim, and that of the export with the same key. */
interface Accepted {
  readonly key: string
  readonly claim: AcceptablePermissionClaim
  readonly exported: PermissionClaim | undefined
  /** Whether the export has the claim, and its resource exists. */
  readonly isApplied: boolean
}

const printed = ({ resource, group }: PermissionClaim): string => `${resource}.${group ?? ''}`

/** The start of a message: how many there are, and how many of them it shows. */
const counted = (list: readonly string[], shown: readonly string[], what: string): string =>
  `${list.length} ${what} (showing first ${shown.length}): `

/** Several errors in one text (`NewAggregate` of `k8s.io/apimachinery/pkg/util/errors`). */
const aggregated = (errors: readonly string[]): string =>
  errors.length === 1 ? errors.join() : `[${errors.join(', ')}]`

function validity(accepted: readonly Accepted[]): ConditionState {
  const mismatched = accepted.flatMap(({ claim, exported }) => mismatch(claim, exported) ?? [])
  if (mismatched.length > 0) {
    const shown = mismatched.slice(0, 5)
    const start = counted(mismatched, shown, 'permission claim(s) have mismatched verbs or selectors')
    const message = `${start}${shown.join(', ')}`
    return isFalse('PermissionClaimsValid', 'Warning', 'PermissionClaimsMismatch', message)
  }
  const unexpected = accepted
    .filter(({ exported }) => exported === undefined)
    .map(
      ({ claim }) =>
        `unexpected/invalid claim for ${printed(claim)} (identity "${claim.identityHash ?? ''}")`,
    )
  if (unexpected.length === 0) return isTrue('PermissionClaimsValid')
  const shown = unexpected.slice(0, 10)
  const message = `${counted(unexpected, shown, 'unexpected and/or invalid permission claims')}${aggregated(shown)}`
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
    ...(haveSame(mine, theirs)
      ? []
      : [`verbs: accepted [${mine.join(' ')}], exported [${theirs.join(' ')}]`]),
    ...(exported.defaultSelector === undefined || isDeepStrictEqual(claim.selector, exported.defaultSelector)
      ? []
      : ['selector differs from defaultSelector']),
  ]
  return differences.length === 0 ? undefined : `${printed(claim)} (${differences.join('; ')})`
}

/** `*` of either side stands for the verbs of the other. */
const haveSame = (mine: readonly string[], theirs: readonly string[]): boolean =>
  [mine, theirs].some(verbs => verbs.includes('*')) || isDeepStrictEqual(new Set(mine), new Set(theirs))

function application(missing: readonly Accepted[]): ConditionState {
  if (missing.length === 0) return isTrue('PermissionClaimsApplied')
  const shown = missing.slice(0, 10).map(({ claim }) => `unable to find informer for ${printed(claim)}`)
  const message = `Permission claims have not been fully applied: ${aggregated(shown)}`
  return isFalse('PermissionClaimsApplied', 'Error', 'InternalError', message)
}
