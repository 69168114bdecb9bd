import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { APIExport } from '../../../kcp/apis.ts'
import { needsNoIdentity } from '../../../kcp/claims.ts'

import { concerns, refused } from './refusal.ts'

/** Claims say whose resource they mean, and schemas fit their resources (chapter 20, section 5.2). */
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
  const index = (spec?.permissionClaims ?? []).findIndex(
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
