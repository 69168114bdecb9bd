import type { LabelSelector } from '../../framework/selectors/selectors.ts'
import { apisGroup, coreGroup } from '../../kcp/apigroups.ts'
import type { APIBinding } from '../../kcp/apis.ts'
import type { AcceptablePermissionClaim, PermissionClaimSelector } from '../../kcp/claims.ts'
import { claimLabelPrefix, claimLabelValue, exportLabel, unlistedClaimValue } from '../../kcp/labels.ts'
import { requirementsOf } from '../../kcp/selector.ts'
import type { StoredResource } from '../cache/codec.ts'

/** An accepted claim: the label and the objects that have it. */
export interface Claim extends StoredResource {
  readonly key: string
  readonly value: string
  /** Absent: all objects. */
  readonly selector?: LabelSelector
}

const customResources = 'customresources'
const builtin = '-'

/** Kinds of kcp that every logical cluster has are stored like custom resources. */
const kcpSystemGroups: readonly string[] = [apisGroup, coreGroup]

/** The stored resource of a claim. Events of both groups are stored once, in the core group. */
function claimedResource(claim: AcceptablePermissionClaim): StoredResource {
  const { resource, identityHash } = claim
  const group = claim.group ?? ''
  if (resource === 'events' && group === 'events.k8s.io') return { group: '', resource, segment: builtin }
  const segment = kcpSystemGroups.includes(group) ? customResources : builtin
  return { group, resource, segment: identityHash || segment }
}

/** The accepted claims of a binding, whether or not the export still has them. */
export function acceptedClaims(binding: APIBinding): readonly Claim[] {
  const exported = binding.metadata.labels?.[exportLabel]
  if (exported === undefined) return []
  return (binding.spec?.permissionClaims ?? [])
    .filter(claim => claim.state === 'Accepted')
    .map(claim => claimOf(claim, claimLabelPrefix + exported))
}

function claimOf(claim: AcceptablePermissionClaim, key: string): Claim {
  const resource = claimedResource(claim)
  const selector = claimedObjects(claim.selector)
  const { resource: plural, identityHash } = claim
  const labelOf = isListed(claim) ? claimLabelValue : unlistedClaimValue
  const value = labelOf({
    group: resource.group,
    resource: plural,
    ...(identityHash === undefined ? {} : { identityHash }),
  })
  return { ...resource, key, value, ...(selector === undefined ? {} : { selector }) }
}

const isListed = ({ verbs = [] }: AcceptablePermissionClaim): boolean =>
  ['*', 'list', 'watch'].some(verb => verbs.includes(verb))

/** The selector of an accepted claim; undefined when all objects are meant. */
const claimedObjects = (selector: PermissionClaimSelector | undefined): LabelSelector | undefined =>
  selector === undefined || selector.matchAll === true ? undefined : requirementsOf(selector)
