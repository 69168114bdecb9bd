import type { Lens, Selection } from '../../../framework/index.ts'
import type { LabelRequirement } from '../../../framework/selectors/selectors.ts'
import {
  apisGroup,
  type ClaimedResource,
  claimLabelKey,
  claimLabelValue,
  type ExportReference,
  exportHash,
  exportLabel,
  reflexiveClaimValue,
} from '../../../kcp/index.ts'

/**
 * `events` of both groups are one claimed resource. An absent group, as kcp writes it in its cache, is the core
 * group.
 */
export const claimedGroup = (group: string | undefined, resource: string): string =>
  group === undefined || (group === 'events.k8s.io' && resource === 'events') ? '' : group

/** Whether two claims have the same group, resource and identity. */
export const sameClaim = (a: ClaimedResource, b: ClaimedResource): boolean =>
  a.resource === b.resource &&
  claimedGroup(a.group, a.resource) === claimedGroup(b.group, b.resource) &&
  (a.identityHash ?? '') === (b.identityHash ?? '')

/** A lens on the objects with the label of the claim, in workspaces that accepted it. */
export function claimLens(of: ExportReference, claim: ClaimedResource): Lens {
  const group = claimedGroup(claim.group, claim.resource)
  const value = claimLabelValue({ ...claim, group })
  const isBinding = group === apisGroup && claim.resource === 'apibindings'
  return labelLens(claimLabelKey(of), isBinding ? [value, reflexiveClaimValue] : [value])
}

/** A lens on the bindings to one export, with or without a claim. */
export const ownBindingsLens = (of: ExportReference): Lens => labelLens(exportLabel, [exportHash(of)])

/** A lens that the storage applies as a label selector, without decoding objects. */
function labelLens(key: string, values: readonly string[]): Lens {
  const requirement: LabelRequirement = { key, operator: 'in', values }
  return {
    narrow: <Q extends Selection>(query: Q): Q => ({
      ...query,
      labels: { requirements: [...(query.labels?.requirements ?? []), requirement] },
    }),
  }
}
