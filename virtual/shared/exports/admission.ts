import { rbacGroup } from '../../../authz/index.ts'
import {
  type AdmissionAttributes,
  type AdmissionPlugin,
  forbidden,
  type Host,
  type KubeObject,
  matchesLabels,
  type RequestContext,
} from '../../../framework/index.ts'
import {
  type AcceptablePermissionClaim,
  type APIBinding,
  apisGroup,
  type PermissionClaimSelector,
  requirementsOf,
} from '../../../kcp/index.ts'
import { claimedGroup, sameClaim } from './claims.ts'
import { type ExportParams, type Exports, mayUseContent } from './exports.ts'
import { type ClaimedWrite, givenBy, givenTo } from './given.ts'
import { checkAcceptedClaims } from './grantedclaims.ts'
import { checkConversion } from './grantedconversions.ts'
import { checkPolicy, checkPolicyBinding } from './grantedparams.ts'
import { checkRoles } from './grantedroles.ts'
import { checkToken } from './grantedtokens.ts'
import { checkOfferedViews } from './grantedviews.ts'

type Context = RequestContext<ExportParams>

/**
 * Applies the claim's selector to writes of the provider (kcp `pkg/virtual/apiexport/builder/forwarding.go`):
 * missing `matchLabels` are added; other values and objects outside the selector are rejected.
 */
export function selectorAdmission(exports: Exports): AdmissionPlugin<ExportParams> {
  return {
    mutate: async (ctx, { object }) => {
      const selector = selectorFor(exports, ctx, object)
      return selector === undefined ? object : withLabels(ctx, object, selector.matchLabels ?? {})
    },
    validate: async (ctx, request) => {
      const object = subject(request)
      const selector = object && selectorFor(exports, ctx, object)
      if (object === undefined || selector === undefined) return
      const labels = object.metadata.labels ?? {}
      if (!matchesLabels(requirementsOf(selector), labels))
        throw refuse(ctx, object, 'object does not match required labels')
    },
  }
}

const admissionGroup = 'admissionregistration.k8s.io'

const checks: ReadonlyMap<string, (write: ClaimedWrite) => Promise<void>> = new Map([
  ['secrets.', checkToken],
  [`apibindings.${apisGroup}`, checkAcceptedClaims],
  [`apiexports.${apisGroup}`, checkOfferedViews],
  ['customresourcedefinitions.apiextensions.k8s.io', checkConversion],
  ...['validating', 'mutating'].flatMap(
    kind =>
      [
        [`${kind}admissionpolicies.${admissionGroup}`, checkPolicy],
        [`${kind}admissionpolicybindings.${admissionGroup}`, checkPolicyBinding],
      ] as const,
  ),
  ...['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'].map(
    resource => [`${resource}.${rbacGroup}`, checkRoles] as const,
  ),
])

/**
 * A provider gets no more permissions in the logical cluster of a consumer by what it writes there than the consumer has given it: it acts
 * there with permissions for everything, so that the checks of the shard do not limit it. Of that, a user gets the verbs that it has on the
 * content of the export; through a View of the export it may have none.
 */
export function grantsAdmission(host: Host, exports: Exports): AdmissionPlugin<ExportParams> {
  return {
    validate: async (ctx, request) => {
      const { object } = request
      const check = checks.get(`${request.resource}.${request.group}`)
      if (check === undefined || object === undefined) return
      const binding = exports.bindingIn(ctx.cluster, ctx.params)
      const provider = exports.find(ctx.params)
      if (binding === undefined || provider === undefined)
        throw refuse(ctx, object, 'the logical cluster has no binding to the export')
      const allows = async (verb: string) =>
        (await mayUseContent(host, ctx, ctx.params, verb)).effect === 'allow'
      const given = await givenTo(allows, givenBy(binding, provider))
      await check({ host, ctx, request: { ...request, object }, given })
    },
  }
}

const subject = ({ operation, object, old }: AdmissionAttributes): KubeObject | undefined =>
  operation === 'DELETE' ? old : object

/** The selector of the claim; undefined for bound resources, `matchAll` and wildcard requests. */
function selectorFor(
  exports: Exports,
  ctx: Context,
  object: KubeObject,
): PermissionClaimSelector | undefined {
  if (ctx.cluster === '*' || !ctx.info.isResource) return undefined
  const binding = exports.bindingIn(ctx.cluster, ctx.params)
  if (binding === undefined)
    throw refuse(
      ctx,
      object,
      'could not find suitable apibinding in target logical cluster: no suitable binding found',
    )
  const selector = acceptedClaim(exports, binding, ctx)?.selector
  return selector === undefined || selector.matchAll ? undefined : selector
}

/** The accepted claim with the group, resource and identity of the claim in the export. */
function acceptedClaim(
  exports: Exports,
  binding: APIBinding,
  ctx: Context,
): AcceptablePermissionClaim | undefined {
  const { info, params } = ctx
  if (!info.isResource) return undefined
  const { group, resource } = info
  const bound = (binding.status?.boundResources ?? []).some(r => r.group === group && r.resource === resource)
  const claims = bound ? [] : (exports.find(params)?.spec?.permissionClaims ?? [])
  const exported = claims.find(
    claim =>
      claim.resource === resource && claimedGroup(claim.group, resource) === claimedGroup(group, resource),
  )
  if (exported === undefined) return undefined
  return binding.spec?.permissionClaims?.find(
    claim => claim.state === 'Accepted' && sameClaim(claim, exported),
  )
}

function withLabels(ctx: Context, object: KubeObject, wanted: Readonly<Record<string, string>>): KubeObject {
  const labels = object.metadata.labels ?? {}
  for (const [key, value] of Object.entries(wanted))
    if (key in labels && labels[key] !== value)
      throw refuse(ctx, object, `protected label ${key} must have value ${value}`)
  return { ...object, metadata: { ...object.metadata, labels: { ...labels, ...wanted } } }
}

function refuse(ctx: Context, object: KubeObject, why: string) {
  const { group, resource } = ctx.info.isResource ? ctx.info : { group: '', resource: '' }
  const name = object.metadata.name ?? object.metadata.generateName ?? 'Unknown'
  return forbidden({ group, resource, name }, why)
}
