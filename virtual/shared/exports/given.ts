import { type PolicyRule, uncovered } from '../../../authz/index.ts'
import { decisionBy } from '../../../framework/contract/authorizer.ts'
import type {
  AdmissionAttributes,
  Host,
  KubeObject,
  RequestContext,
  ResourceRequest,
} from '../../../framework/index.ts'
import { forbidden } from '../../../framework/index.ts'
import type { AcceptablePermissionClaim, APIBinding, APIExport, PermissionClaim } from '../../../kcp/index.ts'
import { sameClaim } from './claims.ts'

/** A write of a provider in the logical cluster of a consumer. */
export interface ClaimedWrite {
  readonly host: Host
  readonly ctx: RequestContext
  readonly request: AdmissionAttributes & { readonly object: KubeObject }
  readonly given: Given
}

/** What a provider may do in the logical cluster of a consumer, because the consumer has bound the export and accepted claims. */
export interface Given {
  readonly claims: readonly AcceptablePermissionClaim[]
  /** Those for all objects of a resource, as rules of RBAC. */
  readonly rules: readonly PolicyRule[]
}

export function givenBy(binding: APIBinding, provider: APIExport): Given {
  const offered = provider.spec?.permissionClaims ?? []
  const claims = (binding.spec?.permissionClaims ?? []).flatMap(claim => {
    const served = offered.find(each => sameClaim(each, claim))
    return claim.state !== 'Accepted' || served === undefined
      ? []
      : [{ ...claim, verbs: inBoth(claim, served) }]
  })
  const bound = (binding.status?.boundResources ?? []).map(({ group, resource }) => ({
    ...{ group, resource, verbs: verbsIn(group) },
  }))
  // RBAC does not know identities: a resource of the same name may have another one.
  const whole = claims.filter(({ identityHash, selector }) => !identityHash && isWhole(selector))
  return { claims, rules: [...bound, ...whole.map(withoutImpersonation)].map(ruleOf) }
}

const verbsOfApis = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

/**
 * RBAC knows resources of Kubernetes that no API serves, such as users, whose verb `impersonate` gives all permissions of others: a
 * provider can export resources with these names.
 */
const verbsIn = (group: string): readonly string[] =>
  group === '' || group.endsWith('.k8s.io') ? verbsOfApis : ['*']

/** To RBAC, every verb on service accounts is also to impersonate them. A claim has to name this verb to give it. */
const withoutImpersonation = (claim: AcceptablePermissionClaim): AcceptablePermissionClaim =>
  !claim.group && claim.resource === 'serviceaccounts' && claim.verbs?.includes('*')
    ? { ...claim, verbs: verbsOfApis }
    : claim

const inBoth = ({ verbs = [] }: PermissionClaim, { verbs: others = [] }: PermissionClaim) =>
  verbs.includes('*') ? others : others.includes('*') ? verbs : verbs.filter(verb => others.includes(verb))

/** Whether a selector selects all objects. */
export const isWhole = (selector: AcceptablePermissionClaim['selector']): boolean =>
  selector === undefined || selector.matchAll === true

const ruleOf = ({ group = '', resource, verbs = [] }: PermissionClaim): PolicyRule => ({
  verbs,
  apiGroups: [group],
  resources: [resource, `${resource}/status`],
})

/** What of it a user may use, who has some verbs only on the content of the export, or none but a View of it. */
export async function givenTo(allows: (verb: string) => Promise<boolean>, given: Given): Promise<Given> {
  if (await allows('*')) return given
  const { claims, rules } = given
  const named = [...claims, ...rules].flatMap(({ verbs = [] }) => verbs)
  const usable = new Set<string>()
  for (const verb of new Set([...named, ...verbsOfApis]))
    if (verb !== '*' && (await allows(verb))) usable.add(verb)
  const left = (verbs: readonly string[] = []) =>
    (verbs.includes('*') ? verbsOfApis : verbs).filter(verb => usable.has(verb))
  return {
    claims: claims.map(claim => ({ ...claim, verbs: left(claim.verbs) })),
    rules: rules.map(rule => ({ ...rule, verbs: left(rule.verbs) })),
  }
}

interface Question extends Pick<ResourceRequest, 'group' | 'resource' | 'subresource' | 'name'> {
  /** Also `bind` and `escalate`. */
  readonly verb: string
}

/** Whether the user has a permission in the logical cluster of the consumer, without the view. */
export async function isAllowedItself(
  { host, ctx, request }: ClaimedWrite,
  asked: Question,
): Promise<boolean> {
  const { verb, ...resource } = asked
  const { cluster, namespace } = request.key
  const action = { verb, cluster, resource: { ...resource, version: 'v1', namespace } }
  const { effect } = await decisionBy(host.backend.authorizer, { user: ctx.user, action }, ctx)
  return effect === 'allow'
}

/** Whether the claims, or the user itself, have the verbs on all objects of a resource. */
export async function hasAll(
  write: ClaimedWrite,
  verbs: readonly string[],
  { group, resource }: Pick<Question, 'group' | 'resource'>,
): Promise<boolean> {
  if (uncovered(write.given.rules, [{ verbs, apiGroups: [group], resources: [resource] }]).length === 0)
    return true
  for (const verb of verbs)
    if (!(await isAllowedItself(write, { verb, group, resource, subresource: '', name: '' }))) return false
  return true
}

export function refusedGrant({ request }: ClaimedWrite, why: string): Error {
  const { group, resource, object } = request
  return forbidden({ group, resource, name: object.metadata.name ?? '' }, why)
}
