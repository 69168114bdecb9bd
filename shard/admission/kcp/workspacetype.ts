import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { Authorizer } from '../../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import { fieldErrorText } from '../../../framework/meta/errors.ts'
import { tooMany } from '../../../framework/meta/fielderror.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { defaultExportsAnnotation } from '../../../kcp/annotations.ts'
import {
  mostAuthenticationConfigurations,
  type WorkspaceType,
  type WorkspaceTypeSelector,
} from '../../../kcp/tenancy.ts'
import { withMetadata } from '../../registry/strategy.ts'
import { defaultExports, isDefaultHome, newDefaults } from '../../tenancy/defaultexports.ts'
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
    return concerns(request, workspaceTypes, ['CREATE', 'UPDATE'])
      ? withDefaultExports(directory, request, request.object)
      : request.object
  },
  async validate(ctx, request) {
    if (!concerns(request, workspaceTypes, ['CREATE', 'UPDATE'])) return
    const problem = problemOf(request)
    if (problem !== undefined) throw refused(request, problem)
    await checkBindings(directory, authorizer, ctx, request)
  },
})

function withDefaultExports(
  directory: ClusterDirectory,
  { key, old }: AdmissionAttributes,
  object: KubeObject,
): KubeObject {
  const { [defaultExportsAnnotation]: sent, ...annotations } = object.metadata.annotations ?? {}
  const homes = defaultExports(
    directory,
    key.cluster,
    object as WorkspaceType,
    old as WorkspaceType | undefined,
  )
  if (sent === homes) return object
  const named = homes === undefined ? {} : { [defaultExportsAnnotation]: homes }
  return withMetadata(object, { annotations: { ...annotations, ...named } })
}

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
  const type = request.object as WorkspaceType
  for (const binding of newDefaults(type, request.old as WorkspaceType | undefined)) {
    const cluster = directory.clusterOf(binding, request.key.cluster)
    const isNamed = cluster !== undefined && isDefaultHome(type, binding, cluster)
    if (isNamed && (await mayBind(authorizer, ctx, cluster, binding.export))) continue
    const name = binding.path ? `${binding.path}:${binding.export}` : binding.export
    const text = `unable to create or update WorkspaceType: no permission to bind to export ${name}`
    throw refused(request, text)
  }
}
