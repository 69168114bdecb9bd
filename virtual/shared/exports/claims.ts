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
  unlistedClaimValue,
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

/** A lens on the objects with the label of the claim, in workspaces that accepted it; of all workspaces, with a verb that reads many. */
export function claimLens(of: ExportReference, claim: ClaimedResource): Lens {
  const known = { ...claim, group: claimedGroup(claim.group, claim.resource) }
  const isBinding = known.group === apisGroup && claim.resource === 'apibindings'
  const listed = [claimLabelValue(known), ...(isBinding ? [reflexiveClaimValue] : [])]
  return labelLens(claimLabelKey(of), { everywhere: listed, inOne: [...listed, unlistedClaimValue(known)] })
}

/** A lens on the bindings to one export, with or without a claim. */
export function ownBindingsLens(of: ExportReference): Lens {
  const values = [exportHash(of)]
  return labelLens(exportLabel, { everywhere: values, inOne: values })
}

/** The values of a label in requests to all logical clusters, and to one. */
interface LabelValues {
  readonly everywhere: readonly string[]
  readonly inOne: readonly string[]
}

/** A lens that the storage applies as a label selector, without decoding objects. */
function labelLens(key: string, { everywhere, inOne }: LabelValues): Lens {
  const of = (values: readonly string[]): LabelRequirement => ({ key, operator: 'in', values })
  const [all, one] = [of(everywhere), of(inOne)]
  return {
    narrow: <Q extends Selection>(query: Q): Q => {
      const requirement = query.cluster === '*' ? all : one
      return { ...query, labels: { requirements: [...(query.labels?.requirements ?? []), requirement] } }
    },
  }
}
