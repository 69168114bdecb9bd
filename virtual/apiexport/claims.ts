import type { LabelRequirement, Lens, Selection } from '../../framework/index.ts'
import {
  apisGroup,
  type ClaimedResource,
  claimLabelKey,
  claimLabelValue,
  type ExportReference,
  exportHash,
  exportLabel,
  reflexiveClaimValue,
} from '../../kcp/index.ts'

/**
 * `events` of both groups are one resource to claims (chapter 10, section 2.6). The core group is '', or, in what kcp has
 * written itself, such as its cache, nothing.
 */
export const claimedGroup = (group: string | undefined, resource: string): string =>
  group === undefined || (group === 'events.k8s.io' && resource === 'events') ? '' : group

/** Two claims on the same resource, by whoever: group, resource and identity. */
export const sameClaim = (a: ClaimedResource, b: ClaimedResource): boolean =>
  a.resource === b.resource &&
  claimedGroup(a.group, a.resource) === claimedGroup(b.group, b.resource) &&
  (a.identityHash ?? '') === (b.identityHash ?? '')

/** Shows the objects that carry the claim's label: those whose workspace accepted it and whose labels match. */
export function claimLens(of: ExportReference, claim: ClaimedResource): Lens {
  const group = claimedGroup(claim.group, claim.resource)
  const value = claimLabelValue({ ...claim, group })
  const isBinding = group === apisGroup && claim.resource === 'apibindings'
  return labelLens(claimLabelKey(of), isBinding ? [value, reflexiveClaimValue] : [value])
}

/** Shows the bindings to one export, claimed or not (chapter 10, section 3.3). */
export const ownBindingsLens = (of: ExportReference): Lens => labelLens(exportLabel, [exportHash(of)])

/** A lens that the storage applies as a label selector; bytes pass. */
function labelLens(key: string, values: readonly string[]): Lens {
  const requirement: LabelRequirement = { key, operator: 'in', values }
  return {
    narrow: <Q extends Selection>(query: Q): Q => ({
      ...query,
      labels: { requirements: [...(query.labels?.requirements ?? []), requirement] },
    }),
  }
}
