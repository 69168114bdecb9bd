import { isDeepStrictEqual } from 'node:util'
import { inTurns, Pace } from '../../../framework/async/awaitable.ts'
import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { ApiSet } from '../../../framework/contract/apis.ts'
import { Work } from '../../../framework/json/json.ts'
import { sameJsonSteps } from '../../../framework/json/same.ts'
import { fieldErrorBody, invalid } from '../../../framework/meta/errors.ts'
import type { ErrorSteps } from '../../../framework/meta/errorsteps.ts'
import { tooMany } from '../../../framework/meta/fielderror.ts'
import { type ClusterName, groupResource, type KubeObject } from '../../../framework/meta/object.ts'
import { apisGroup, cacheGroup } from '../../../kcp/apigroups.ts'
import type { APIExport, APIExportEndpointSlice } from '../../../kcp/apis.ts'
import type { ClusterCachedResource } from '../../../kcp/cache.ts'
import { mostClaims, needsNoIdentity } from '../../../kcp/claims.ts'
import type { WatchCache } from '../../cache/contract.ts'
import { customSegment } from '../../cache/segments.ts'
import { concerns, refused } from '../refusal.ts'
import { checkBind, type ExportRules } from './permission.ts'

/**
 * Claims need an identity for resources that are not built in, and schemas have to fit their resources (kcp
 * `pkg/admission/apiexport`).
 */
export const apiExportAdmission: AdmissionPlugin = {
  name: 'apis.kcp.io/APIExport',
  handles: { resources: ['apiexports.apis.kcp.io'] },
  validate(_ctx, request) {
    if (!concerns(request, 'apiexports.apis.kcp.io', ['CREATE', 'UPDATE'])) return
    const problem = claimProblem(request.object as APIExport) ?? schemaProblem(request.object as APIExport)
    if (problem !== undefined) throw refused(request, problem)
  },
}

function claimProblem({ spec }: APIExport): string | undefined {
  const claims = spec?.permissionClaims ?? []
  if (claims.length > mostClaims)
    return `spec.permissionClaims: ${fieldErrorBody(tooMany('', claims.length, mostClaims))}`
  const index = claims.findIndex(
    ({ group, resource, identityHash }) => !identityHash && !needsNoIdentity(group ?? '', resource),
  )
  if (index === -1) return undefined
  const text = 'identityHash is required for API types that are not built-in'
  return `spec.permissionClaims[${index}].identityHash: Invalid value: "": ${text}`
}

function schemaProblem({ spec }: APIExport): string | undefined {
  for (const [i, { name, group, schema }] of (spec?.resources ?? []).entries()) {
    const suffix = `.${name}.${group || 'core'}`
    if (!schema.endsWith(suffix) || schema.length === suffix.length)
      return `spec.resources[${i}].schema: Invalid value: "${schema}": must end in ${suffix}`
  }
  return undefined
}

/** All errors of a new schema. */
export type SchemaCheck = (schema: KubeObject) => ErrorSteps

/** A schema has to be valid and is immutable (kcp `pkg/admission/apiresourceschema`). */
export const apiResourceSchemaAdmission = (check: SchemaCheck): AdmissionPlugin => ({
  name: 'tenancy.kcp.io/APIResourceSchema',
  handles: { resources: ['apiresourceschemas.apis.kcp.io'] },
  async validate(_ctx, request) {
    const { object, old } = request
    if (!concerns(request, 'apiresourceschemas.apis.kcp.io', ['CREATE', 'UPDATE']) || object === undefined)
      return
    const errors = await inTurns(old === undefined ? check(object) : changeErrors(object, old), new Pace())
    if (errors.length === 0) return
    const texts = errors.map(error => `${error.field}: ${fieldErrorBody(error)}`)
    throw refused(request, `[${texts.join(' ')}]`)
  },
})

function* changeErrors(next: KubeObject, old: KubeObject): ErrorSteps {
  return (yield* sameJsonSteps(next.spec, old.spec, new Work()))
    ? []
    : [{ type: 'FieldValueInvalid', field: 'spec', value: next.spec, detail: 'is immutable' }]
}

const slices = 'apiexportendpointslices.apis.kcp.io'

/**
 * An endpoint slice needs the permission to bind its export, which is immutable (kcp
 * `pkg/admission/apiexportendpointslice`).
 */
export const endpointSliceAdmission = (rules: ExportRules): AdmissionPlugin => ({
  name: 'apis.kcp.io/APIExportEndpointSlice',
  handles: { resources: [slices] },
  async validate(ctx, request) {
    if (!concerns(request, slices, ['CREATE', 'UPDATE'])) return
    const slice = request.object as APIExportEndpointSlice
    const old = request.old as APIExportEndpointSlice | undefined
    const reference = slice.spec?.export
    if (!reference?.name) throw refused(request, 'spec.export.name: Required value')
    if (old === undefined) await checkBind(rules, ctx, request, reference)
    else if (!isDeepStrictEqual(old.spec?.export, reference)) throw changed(slice)
  },
})

const changed = ({ metadata, spec }: APIExportEndpointSlice): Error =>
  invalid('APIExportEndpointSlice', apisGroup, metadata.name ?? '', [
    {
      type: 'FieldValueInvalid',
      field: 'spec.export',
      value: spec?.export,
      detail: 'APIExport reference must not be changed',
    },
  ])

export interface CachedResourceRules {
  readonly cache: WatchCache
  apis(cluster: ClusterName): ApiSet | undefined
}

/** A published resource has to be cluster-scoped, and is published once (kcp `pkg/admission/cachedresource`). */
export const cachedResourceAdmission = ({ cache, apis }: CachedResourceRules): AdmissionPlugin => ({
  name: 'apis.kcp.io/ClusterCachedResource',
  handles: { resources: ['clustercachedresources.cache.kcp.io'] },
  validate(_ctx, request) {
    if (!concerns(request, 'clustercachedresources.cache.kcp.io', ['CREATE'])) return
    const { metadata, spec } = request.object as ClusterCachedResource
    const { group = '', version = '', resource } = spec
    const { cluster } = request.key
    const invalid = (value: string, text: string): Error =>
      refused(request, `spec: Invalid value: ${JSON.stringify(value)}: ${text}`)
    if (apis(cluster)?.find(group, version, resource)?.namespaced)
      throw invalid(
        groupResource(group, resource),
        'Resource referenced in ClusterCachedResource must be cluster-scoped',
      )
    const known = cache.resource(cacheGroup, 'clustercachedresources', customSegment).items(cluster)
    for (const { name, object } of known) {
      const other = (object as ClusterCachedResource).spec
      const isSame =
        (other.group ?? '') === group && (other.version ?? '') === version && other.resource === resource
      // The store reports an object of the same name.
      if (isSame && name !== metadata.name)
        throw invalid(
          `${group}.${version}.${resource}`,
          `ClusterCachedResource with this GVR already exists in the "${cluster}" workspace`,
        )
    }
  },
})
