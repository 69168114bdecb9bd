import { isDeepStrictEqual } from 'node:util'
import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { Authorizer } from '../../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import { fieldErrorText } from '../../../framework/meta/errors.ts'
import { tooMany } from '../../../framework/meta/fielderror.ts'
import {
  mostAuthenticationConfigurations,
  type WorkspaceType,
  type WorkspaceTypeSelector,
} from '../../../kcp/tenancy.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import { concerns, refused } from '../refusal.ts'
import { mayBind } from './permission.ts'

const workspaceTypes = 'workspacetypes.tenancy.kcp.io'
const reserved: readonly string[] = ['any', 'system']

/** Validates workspace types (kcp `pkg/admission/workspacetype`). */
export const workspaceTypeAdmission = (
  directory: ClusterDirectory,
  authorizer: Authorizer,
): AdmissionPlugin => ({
  name: 'tenancy.kcp.io/WorkspaceType',
  handles: { resources: [workspaceTypes] },
  // Before the validation of the schema, which has another message.
  mutate(_ctx, request) {
    if (concerns(request, workspaceTypes, ['CREATE']) && reserved.includes(request.key.name))
      throw refused(request, `metadata.name: Invalid value: "${request.key.name}": name is reserved`)
    return request.object
  },
  async validate(ctx, request) {
    if (!concerns(request, workspaceTypes, ['CREATE', 'UPDATE'])) return
    const problem = problemOf(request)
    if (problem !== undefined) throw refused(request, problem)
    await checkBindings(directory, authorizer, ctx, request)
  },
})

function problemOf({ key, object }: AdmissionAttributes): string | undefined {
  const { spec = {} } = object as WorkspaceType
  if (key.name === 'root' && key.cluster !== 'root')
    return 'root workspace type can only be created in root cluster'
  const child = spec.defaultChildWorkspaceType
  if (child !== undefined && !child.path) return '.spec.defaultChildWorkspaceType.path must be set'
  const configurations = spec.authenticationConfigurations?.length ?? 0
  if (configurations > mostAuthenticationConfigurations)
    return fieldErrorText(
      tooMany('spec.authenticationConfigurations', configurations, mostAuthenticationConfigurations),
    )
  return (
    limitProblem('limitAllowedChildren', spec.limitAllowedChildren) ??
    limitProblem('limitAllowedParents', spec.limitAllowedParents)
  )
}

function limitProblem(field: string, limit: WorkspaceTypeSelector | undefined): string | undefined {
  const index = limit?.types?.findIndex(type => !type.path) ?? -1
  return index === -1 ? undefined : `.spec.${field}.types[${index}].path must be set`
}

/** New default bindings need the permission to bind. */
async function checkBindings(
  directory: ClusterDirectory,
  authorizer: Authorizer,
  ctx: RequestContext,
  request: AdmissionAttributes,
): Promise<void> {
  const known = (request.old as WorkspaceType | undefined)?.spec?.defaultAPIBindings ?? []
  const wanted = (request.object as WorkspaceType).spec?.defaultAPIBindings ?? []
  for (const binding of wanted) {
    if (known.some(other => isDeepStrictEqual(other, binding))) continue
    const cluster = directory.clusterOf(binding, request.key.cluster)
    if (cluster !== undefined && (await mayBind(authorizer, ctx, cluster, binding.export))) continue
    const name = binding.path ? `${binding.path}:${binding.export}` : binding.export
    const text = `unable to create or update WorkspaceType: no permission to bind to export ${name}`
    throw refused(request, text)
  }
}
