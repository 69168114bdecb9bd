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
import { defaultExports, defaultHomes, newDefaults } from '../../tenancy/defaultexports.ts'
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
    if (!concerns(request, workspaceTypes, ['CREATE', 'UPDATE'])) return request.object
    const problem = limitProblem(request)
    if (problem !== undefined) throw refused(request, problem)
    return withDefaultExports(directory, request, request.object)
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

function problemOf(request: AdmissionAttributes): string | undefined {
  const { key, object } = request
  const { spec = {} } = object as WorkspaceType
  if (key.name === 'root' && key.cluster !== 'root')
    return 'root workspace type can only be created in root cluster'
  const child = spec.defaultChildWorkspaceType
  if (child !== undefined && !child.path) return '.spec.defaultChildWorkspaceType.path must be set'
  return (
    limitProblem(request) ??
    selectorProblem('limitAllowedChildren', spec.limitAllowedChildren) ??
    selectorProblem('limitAllowedParents', spec.limitAllowedParents)
  )
}

interface Limited {
  readonly field: string
  readonly items: (type: WorkspaceType) => readonly unknown[] | undefined
  readonly most: number
}

const limits: readonly Limited[] = [
  { field: 'spec.extend.with', items: ({ spec }) => spec?.extend?.with, most: 200 },
  { field: 'spec.defaultAPIBindings', items: ({ spec }) => spec?.defaultAPIBindings, most: 200 },
  {
    field: 'spec.authenticationConfigurations',
    items: ({ spec }) => spec?.authenticationConfigurations,
    most: mostAuthenticationConfigurations,
  },
  {
    field: 'spec.limitAllowedChildren.types',
    items: ({ spec }) => spec?.limitAllowedChildren?.types,
    most: 1_000,
  },
  {
    field: 'spec.limitAllowedParents.types',
    items: ({ spec }) => spec?.limitAllowedParents?.types,
    most: 1_000,
  },
]

/** A type that has more already may keep them: it may come from kcp. */
function limitProblem({ object, old }: AdmissionAttributes): string | undefined {
  for (const { field, items, most } of limits) {
    const count = items(object as WorkspaceType)?.length ?? 0
    const before = (old && items(old as WorkspaceType)?.length) ?? 0
    if (count > Math.max(most, before)) return fieldErrorText(tooMany(field, count, most))
  }
  return undefined
}

function selectorProblem(field: string, limit: WorkspaceTypeSelector | undefined): string | undefined {
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
  const isHome = defaultHomes(type)
  for (const binding of newDefaults(type, request.old as WorkspaceType | undefined)) {
    const cluster = directory.referencedCluster(binding, request.key.cluster)
    const isNamed = cluster !== undefined && isHome(binding, cluster)
    if (isNamed && (await mayBind(authorizer, ctx, cluster, binding.export))) continue
    const name = binding.path ? `${binding.path}:${binding.export}` : binding.export
    const text = `unable to create or update WorkspaceType: no permission to bind to export ${name}`
    throw refused(request, text)
  }
}
