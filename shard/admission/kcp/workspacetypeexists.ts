import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { Authorizer } from '../../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import { notFound } from '../../../framework/meta/errors.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { admittedTypesAnnotation, typeAnnotation } from '../../../kcp/annotations.ts'
import { coreGroup, tenancyGroup } from '../../../kcp/apigroups.ts'
import { logicalClusterName } from '../../../kcp/logicalclusters.ts'
import type { PathReference } from '../../../kcp/references.ts'
import type { Workspace, WorkspaceTypeSelector } from '../../../kcp/tenancy.ts'
import { withMetadata } from '../../registry/strategy.ts'
import { admittedBy, admittedTypes } from '../../tenancy/admittedtypes.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import { type LocatedType, TypesInvalid, typeName } from '../../tenancy/typechain.ts'
import { concerns, refused } from '../refusal.ts'
import { isAllowed } from './permission.ts'

const workspaces = 'workspaces.tenancy.kcp.io'

/**
 * Resolves the type of a new workspace, and checks the verb `use` and the limits of types (kcp
 * `pkg/admission/workspacetypeexists`).
 */
export const workspaceTypeExists = (
  directory: ClusterDirectory,
  authorizer: Authorizer,
): AdmissionPlugin => ({
  name: 'tenancy.kcp.io/WorkspaceTypeExists',
  handles: { resources: [workspaces] },
  mutate(_ctx, request) {
    const workspace = request.object as Workspace
    if (!concerns(request, workspaces, ['CREATE']) || workspace.spec?.mount) return request.object
    const reference = wantedType(directory, request, workspace)
    const found = directory.workspaceType(reference, request.key.cluster)
    if (found === undefined)
      throw refused(request, `workspace type "${printed(reference)}" cannot be resolved`)
    const labels = { ...found.type.spec?.additionalWorkspaceLabels, ...workspace.metadata.labels }
    const admitted = admittedTypes(typeChain(directory, request, found))
    const annotations = { ...workspace.metadata.annotations, [admittedTypesAnnotation]: admitted }
    const spec = { ...workspace.spec, type: { name: reference.name, path: reference.path || found.path } }
    const labelled = Object.keys(labels).length === 0 ? {} : { labels }
    return { ...withMetadata(workspace, { ...labelled, annotations }), spec }
  },
  async validate(ctx, request) {
    const workspace = request.object as Workspace
    if (!concerns(request, workspaces, ['CREATE']) || workspace.spec?.mount) return
    const types = chainOf(directory, request, workspace)
    await checkUse(authorizer, ctx, request, types)
    checkLimits(directory, request, types)
  },
})

const printed = ({ path, name }: PathReference): string => (path ? `${path}:${name}` : name)

/** The type of the workspace; by default that of the parent type for children. */
function wantedType(
  directory: ClusterDirectory,
  request: AdmissionAttributes,
  { spec }: Workspace,
): PathReference {
  const { cluster } = request.key
  const parent = directory.logicalCluster(cluster)
  if (parent === undefined) {
    const { message } = notFound({ group: coreGroup, resource: 'logicalclusters', name: logicalClusterName })
    throw refused(request, `workspace type cannot be resolved: ${message}`)
  }
  const { name, path } = spec?.type ?? {}
  if (name) return path ? { name, path } : { name }
  const type = parentType(directory, request)
  const child = type.type.spec?.defaultChildWorkspaceType
  if (child === undefined)
    throw refused(request, `spec.defaultChildWorkspaceType of workspace type ${typeName(type)} must be set`)
  return child
}

function parentType(directory: ClusterDirectory, request: AdmissionAttributes): LocatedType {
  const parent = directory.logicalCluster(request.key.cluster)
  const annotation = parent?.metadata.annotations?.[typeAnnotation]
  if (annotation === undefined)
    throw refused(request, `annotation ${typeAnnotation} on LogicalCluster must be set`)
  const type = locate(directory, annotation, request.key.cluster)
  if (type === undefined || !admittedBy(parent?.metadata.annotations)(type))
    throw refused(request, `parent type cannot be resolved: workspace type "${annotation}" not found`)
  return type
}

/** The type that `<path>:<name>` names. */
function locate(directory: ClusterDirectory, identifier: string, from: ClusterName): LocatedType | undefined {
  const colon = identifier.lastIndexOf(':')
  return directory.workspaceType(
    { path: identifier.slice(0, Math.max(colon, 0)), name: identifier.slice(colon + 1) },
    from,
  )
}

/** The type with all types that it extends, bases first. */
function chainOf(
  directory: ClusterDirectory,
  request: AdmissionAttributes,
  { metadata, spec }: Workspace,
): readonly LocatedType[] {
  const { name, path } = spec?.type ?? {}
  if (!path || !name) throw refused(request, 'spec.type.path must be set')
  const type = directory.workspaceType({ path, name }, request.key.cluster)
  if (type === undefined) throw refused(request, `workspace type "${path}:${name}" cannot be resolved`)
  const types = typeChain(directory, request, type)
  if (admittedTypes(types) === metadata.annotations?.[admittedTypesAnnotation]) return types
  throw refused(
    request,
    `workspace type "${path}:${name}" has changed during the request: create the workspace again`,
  )
}

function typeChain(
  directory: ClusterDirectory,
  request: AdmissionAttributes,
  type: LocatedType,
): readonly LocatedType[] {
  try {
    return directory.typeChain(type)
  } catch (error) {
    throw error instanceof TypesInvalid ? refused(request, error.message) : error
  }
}

async function checkUse(
  authorizer: Authorizer,
  ctx: RequestContext,
  request: AdmissionAttributes,
  types: readonly LocatedType[],
): Promise<void> {
  for (const located of types) {
    const { cluster, type } = located
    const name = type.metadata.name ?? ''
    const target = {
      verb: 'use',
      cluster,
      group: tenancyGroup,
      resource: 'workspacetypes',
      name,
    } as const
    if (await isAllowed(authorizer, ctx, target)) continue
    const id = typeName(located)
    throw refused(
      request,
      `unable to use workspace type ${id}: missing verb='use' permission on workspacetype`,
    )
  }
}

function checkLimits(
  directory: ClusterDirectory,
  request: AdmissionAttributes,
  types: readonly LocatedType[],
): void {
  const parent = directory.logicalCluster(request.key.cluster)
  const chain = typeChain(directory, request, parentType(directory, request))
  const parents = chain.filter(admittedBy(parent?.metadata.annotations))
  const problems = limitProblems(parents, types)
  if (problems.length === 1) throw refused(request, problems[0] ?? '')
  if (problems.length > 1) throw refused(request, `[${problems.join(', ')}]`)
}

const names = (types: readonly LocatedType[]): readonly string[] => types.map(typeName)

function intersect(some: readonly string[], others: readonly string[]): boolean {
  const known = new Set(some)
  return others.some(name => known.has(name))
}

const printedList = (list: readonly string[]): string => `[${list.toSorted().join(' ')}]`

/** One side of the limits: parent or child. */
interface Side {
  readonly own: readonly LocatedType[]
  readonly others: readonly LocatedType[]
  readonly limitOf: (type: LocatedType) => WorkspaceTypeSelector | undefined
  readonly word: 'parent' | 'child'
}

/**
 * The reasons why a workspace of the child type is not allowed in one of the parent type: every type of each chain
 * may limit the other side, and any type of the other chain satisfies a limit. Chains end with the type itself.
 */
const limitProblems = (
  parents: readonly LocatedType[],
  children: readonly LocatedType[],
): readonly string[] => [
  ...problemsOf({
    own: children,
    others: parents,
    limitOf: ({ type }) => type.spec?.limitAllowedParents,
    word: 'parent',
  }),
  ...problemsOf({
    own: parents,
    others: children,
    limitOf: ({ type }) => type.spec?.limitAllowedChildren,
    word: 'child',
  }),
]

function problemsOf({ own, others, limitOf, word }: Side): readonly string[] {
  const self = own.at(-1)
  const other = others.at(-1)
  if (self === undefined || other === undefined) return []
  return own.flatMap(type => {
    const limit = limitOf(type)
    const subject = typeName(self)
    if (limit?.none === true) return [`workspace type ${subject} cannot have any ${word}`]
    const allowed = limit?.types?.map(({ path, name }) => `${path ?? ''}:${name}`)
    if (allowed === undefined || intersect(allowed, names(others))) return []
    const via = type === self ? '' : ` extends ${typeName(type)}, which`
    return [
      `workspace type ${subject}${via} only allows ${printedList(allowed)} ${word} workspaces, ` +
        `but ${word} type ${typeName(other)} only implements ${printedList(names(others))}`,
    ]
  })
}
