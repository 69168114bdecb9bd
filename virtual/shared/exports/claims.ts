import { type Lens, type ResourceStorage, type Selection, viewOf } from '../../../framework/index.ts'
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

/** How a provider sees objects. */
export interface ClaimLenses {
  readonly lens: Lens
  /** For watches: they end some seconds after their verb was taken away, and show nothing until then that is accepted for other verbs only. */
  readonly watching: Lens
}

/** The storage as a provider sees it. */
export function seenThrough(storage: ResourceStorage, { lens, watching }: ClaimLenses): ResourceStorage {
  const { watch } = viewOf(storage, () => watching)
  return { ...viewOf(storage, () => lens), watch }
}

/** Lenses on the objects with the label of the claim, in workspaces that accepted it; of all workspaces, with a verb that reads many. */
export function claimLenses(of: ExportReference, claim: ClaimedResource): ClaimLenses {
  const known = { ...claim, group: claimedGroup(claim.group, claim.resource) }
  const isBinding = known.group === apisGroup && claim.resource === 'apibindings'
  const listed = [claimLabelValue(known), ...(isBinding ? [reflexiveClaimValue] : [])]
  const key = claimLabelKey(of)
  return {
    lens: labelLens(key, { everywhere: listed, inOne: [...listed, unlistedClaimValue(known)] }),
    watching: labelLens(key, { everywhere: listed, inOne: listed }),
  }
}

/** A lens on the bindings to one export, with or without a claim. */
export function ownBindingsLenses(of: ExportReference): ClaimLenses {
  const values = [exportHash(of)]
  const lens = labelLens(exportLabel, { everywhere: values, inOne: values })
  return { lens, watching: lens }
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
