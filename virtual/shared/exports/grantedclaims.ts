import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../../framework/index.ts'
import { type AcceptablePermissionClaim, type APIBinding, apisGroup } from '../../../kcp/index.ts'
import { sameClaim } from './claims.ts'
import { type ClaimedWrite, type Given, isAllowedItself, isWhole, refusedGrant } from './given.ts'

/**
 * A provider with a claim on APIBindings accepts claims only within what the consumer has accepted of it. Unlike in kcp, where it can accept
 * its own claims that the consumer has rejected.
 */
export async function checkAcceptedClaims(write: ClaimedWrite): Promise<void> {
  const { request, given } = write
  const problem = problemOf(request, given)
  if (problem === undefined) return
  const verb = request.operation === 'CREATE' ? 'create' : 'update'
  const { name } = request.key
  if (
    await isAllowedItself(write, { verb, group: apisGroup, resource: 'apibindings', subresource: '', name })
  )
    return
  throw refusedGrant(write, problem)
}

function problemOf({ object, old }: ClaimedWrite['request'], given: Given): string | undefined {
  if (!isDeepStrictEqual(convertedOf(object), convertedOf(old)))
    return 'metadata.annotations: what other versions of the binding have cannot be changed through a permission claim'
  const known = old === undefined ? [] : claimsOf(old)
  const index = claimsOf(object).findIndex(
    claim =>
      claim.state === 'Accepted' &&
      !known.some(each => isDeepStrictEqual(each, claim)) &&
      !isGiven(claim, given),
  )
  return index < 0
    ? undefined
    : `spec.permissionClaims[${index}]: a provider can accept only claims that the consumer has accepted of it`
}

const claimsOf = (object: KubeObject): readonly AcceptablePermissionClaim[] =>
  (object as APIBinding).spec?.permissionClaims ?? []

/** The annotations that have the fields of other versions. */
const convertedOf = (object: KubeObject | undefined) =>
  Object.entries(object?.metadata.annotations ?? {})
    .filter(([key]) => key.startsWith('apis.v1alpha2.kcp.io/'))
    .sort()

/** A claim without verbs and selector, as in v1alpha1, is for all of them. */
const isGiven = (claim: AcceptablePermissionClaim, { claims }: Given): boolean =>
  claims.some(
    each =>
      sameClaim(each, claim) &&
      (claim.verbs ?? ['*']).every(verb => each.verbs?.includes(verb) || each.verbs?.includes('*')) &&
      (isWhole(each.selector) || isDeepStrictEqual(each.selector, claim.selector)),
  )
