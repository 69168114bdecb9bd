import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import { type FieldError, fieldErrorBody } from '../../../framework/meta/errors.ts'
import { required, tooMany } from '../../../framework/meta/fielderror.ts'
import { isPrivileged } from '../../../framework/request/user.ts'
import { bindingFinalizer } from '../../../kcp/annotations.ts'
import type { APIBinding } from '../../../kcp/apis.ts'
import { type AcceptablePermissionClaim, mostClaims } from '../../../kcp/claims.ts'
import { exportHash, exportLabel } from '../../../kcp/labels.ts'
import type { PathReference } from '../../../kcp/references.ts'
import { withMetadata } from '../../registry/strategy.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import { concerns, refused } from '../refusal.ts'
import { checkBind, type ExportRules, exportCluster, noPermission } from './permission.ts'

const bindings = 'apibindings.apis.kcp.io'

/**
 * Adds the finalizer and the export label of bindings, and checks the permission to bind (kcp
 * `pkg/admission/apibinding`).
 */
export const apiBindingAdmission = (rules: ExportRules): AdmissionPlugin => ({
  name: 'apis.kcp.io/APIBinding',
  handles: { resources: [bindings] },
  mutate(_ctx, request) {
    if (!concerns(request, bindings, ['CREATE', 'UPDATE'])) return request.object
    const binding = withoutEmptyPath(request.object as APIBinding)
    return labelled(rules.directory, request, withFinalizer(binding))
  },
  async validate(ctx, request) {
    if (`${request.resource}.${request.group}` !== bindings || request.operation === 'DELETE') return
    if (request.subresource === 'status') checkStatus(request)
    if (request.subresource === '') await checkBinding(rules, ctx, request)
  },
})

/** An empty path is that of the own workspace, as none is; the schema refuses it (kcp writes the object again, without empty texts). */
function withoutEmptyPath(object: APIBinding): APIBinding {
  const { reference } = object.spec ?? {}
  if (reference?.export?.path !== '') return object
  const { path: _, ...named } = reference.export
  return { ...object, spec: { ...object.spec, reference: { ...reference, export: named } } }
}

function withFinalizer(object: APIBinding): APIBinding {
  const { finalizers = [], deletionTimestamp } = object.metadata
  if (deletionTimestamp !== undefined || finalizers.includes(bindingFinalizer)) return object
  return withMetadata(object, { finalizers: [...finalizers, bindingFinalizer] })
}

function labelled(
  directory: ClusterDirectory,
  request: AdmissionAttributes,
  binding: APIBinding,
): APIBinding {
  const reference = binding.spec?.reference?.export
  if (!reference?.name || !isReadable(reference)) return binding
  const value = knownLabel(request, reference) ?? newLabel(directory, request, reference)
  if (binding.metadata.labels?.[exportLabel] === value) return binding
  return withMetadata(binding, { labels: { ...binding.metadata.labels, [exportLabel]: value } })
}

/** A binding stays with its export until its reference changes: the path may lead elsewhere by then. */
function knownLabel({ old }: AdmissionAttributes, { name, path }: PathReference): string | undefined {
  const before = (old as APIBinding | undefined)?.spec?.reference?.export
  const isSame = before?.name === name && before.path === path
  return isSame ? old?.metadata.labels?.[exportLabel] : undefined
}

function newLabel(
  directory: ClusterDirectory,
  request: AdmissionAttributes,
  reference: PathReference,
): string {
  const cluster = exportCluster(directory, reference, request.key.cluster)
  if (cluster === undefined) throw noPermission(request, reference)
  return exportHash({ cluster, name: reference.name })
}

/** References of another shape are left to the validation of the schema. */
const isReadable = ({ name, path = '' }: PathReference): boolean =>
  typeof name === 'string' && typeof path === 'string'

function checkStatus(request: AdmissionAttributes): void {
  const from = (request.old as APIBinding).status?.phase
  const to = (request.object as APIBinding).status?.phase
  if (from && !to)
    throw refused(request, `status.phase: Forbidden: cannot transition from "${from}" to "${to ?? ''}"`)
}

async function checkBinding(
  rules: ExportRules,
  ctx: RequestContext,
  request: AdmissionAttributes,
): Promise<void> {
  const binding = request.object as APIBinding
  const old = request.old as APIBinding | undefined
  const reference = binding.spec?.reference?.export
  const errors = [...referenceErrors(binding), ...claimErrors(binding)]
  const problems = errors.map(error => `${error.field}: ${fieldErrorBody(error)}`)
  if (reference === undefined || problems.length > 0) throw refused(request, `[${problems.join(' ')}]`)
  checkFinalizer(ctx, request)
  if (old !== undefined && labelOf(old) === labelOf(binding)) return
  // The path may have led elsewhere when the label was set, and the binding stays with the export of the label.
  if (newLabel(rules.directory, request, reference) !== labelOf(binding))
    throw noPermission(request, reference)
  await checkBind(rules, ctx, request, reference)
}

const labelOf = (binding: APIBinding): string | undefined => binding.metadata.labels?.[exportLabel]

/** Users must not remove the finalizer that deletes the bound objects. */
function checkFinalizer(ctx: RequestContext, request: AdmissionAttributes): void {
  const has = (object: AdmissionAttributes['object']): boolean =>
    object?.metadata.finalizers?.includes(bindingFinalizer) ?? false
  if (has(request.old) && !has(request.object) && !isPrivileged(ctx.actAs))
    throw refused(request, `removing the finalizer ${bindingFinalizer} is forbidden`)
}

function referenceErrors({ spec }: APIBinding): readonly FieldError[] {
  const path = 'spec.reference.export'
  const reference = spec?.reference?.export
  if (reference === undefined) return [required(path)]
  return reference.name ? [] : [required(`${path}.name`)]
}

function claimErrors({ spec }: APIBinding): readonly FieldError[] {
  const claims = spec?.permissionClaims ?? []
  if (claims.length > mostClaims) return [tooMany('spec.permissionClaims', claims.length, mostClaims)]
  return claims.flatMap((claim, i) => selectorErrors(claim, `spec.permissionClaims[${i}].selector`))
}

function selectorErrors({ selector }: AcceptablePermissionClaim, field: string): readonly FieldError[] {
  const { matchAll, matchLabels, matchExpressions } = selector ?? {}
  const error = (detail: string): FieldError => ({
    type: 'FieldValueInvalid',
    field,
    value: selector ?? null,
    detail,
  })
  const labels = Object.keys(matchLabels ?? {}).length > 0
  const expressions = (matchExpressions ?? []).length > 0
  if (matchAll !== true)
    return labels || expressions
      ? []
      : [error('either one of matchAll, matchLabels, or matchExpressions must be set')]
  return [
    ...(labels ? [error('matchLabels cannot be used with matchAll')] : []),
    ...(expressions ? [error('matchExpressions cannot be used with matchAll')] : []),
  ]
}
