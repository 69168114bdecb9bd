import type { PolicyRule } from '../../authz/rbac/policyrule.ts'
import type { Action } from '../../framework/contract/authorizer.ts'
import { isPrivileged, type UserInfo } from '../../framework/request/user.ts'
import { mayThroughView } from './content.ts'
import { allows, mayPlainly } from './oracle.ts'
import type { Publication } from './publications.ts'
import type { Child, Life } from './tree.ts'
import { type Export, systemAdmin, type World } from './world.ts'

// Computes from all objects of the world the responses of the views initializingworkspaces, terminatingworkspaces, mounts
// and workspaces, as kcp's `pkg/virtual/initializingworkspaces` and `pkg/virtual/terminatingworkspaces` decide. Like
// oracle.ts it shares no code with the checked implementation.

/** '' is the plain endpoint. */
export type ViewName =
  | ''
  | 'apiexport'
  | 'apiresourceschema'
  | 'cache'
  | 'initializingworkspaces'
  | 'migratingworkspaces'
  | 'mounts'
  | 'replication'
  | 'terminatingworkspaces'
  | 'workspaces'

/** One request to a view. */
export interface ViewRequest {
  readonly view: ViewName
  /** The parameter in the view's URL: an initializer, an export, a slice. */
  readonly identifier: string
  readonly user: UserInfo
  readonly action: Action
}

/**
 * `absent`: 404 for this user. `nothing`: the view serves nothing at this URL.
 * `broken`: the workspace whose permissions apply is unknown.
 */
export type Answer = 'served' | 'refused' | 'absent' | 'nothing' | 'broken'

export function answerOf(world: World, request: ViewRequest): Answer {
  switch (request.view) {
    case '':
      return plainAnswer(world, request)
    case 'apiexport':
      return exportAnswer(world, request)
    case 'cache':
      return isMaster(request.user) ? 'served' : 'refused'
    case 'replication':
      return publicationAnswer(world, request)
    case 'apiresourceschema':
      return schemaAnswer(world, request)
    case 'migratingworkspaces':
      return movingAnswer(request)
    case 'mounts':
      return mountAnswer(world, request)
    case 'workspaces':
      return workspaceAnswer(world, request)
    case 'initializingworkspaces':
      return lifeAnswer(world, request, 'initializer')
    case 'terminatingworkspaces':
      return lifeAnswer(world, request, 'terminator')
  }
}

function plainAnswer(world: World, { user, action }: ViewRequest): Answer {
  if (!mayPlainly(world, user, action)) return 'refused'
  // As in kcp, privileged users read empty lists of built-in kinds in a logical cluster that does not exist.
  const isRead = ['get', 'list', 'watch'].includes(action.verb)
  return exists(world, action.cluster) || (isRead && isPrivileged(user)) ? 'served' : 'absent'
}

const exists = ({ clusters }: World, cluster: string): boolean =>
  ['*', systemAdmin].includes(cluster) || cluster in clusters

function exportAnswer(world: World, { identifier, user, action }: ViewRequest): Answer {
  const of = exportNamed(world, identifier)
  if (of === undefined) return isMaster(user) ? 'served' : 'refused'
  return mayThroughView(world, of, user, action) ? 'served' : 'refused'
}

export const exportNamed = ({ exports }: World, identifier: string): Export | undefined =>
  exports.find(({ cluster, name }) => `${cluster}:${name}` === identifier)

/** The publication whose slice, resource and export refer to each other. */
export const publicationNamed = ({ publications }: World, identifier: string): Publication | undefined =>
  publications.find(
    ({ cluster, isValid, identity, named }) =>
      `${cluster}:regions` === identifier && isValid && named === identity,
  )

/**
 * Reads, in a logical cluster that has bound the resource from this export, for users with permission for the export's
 * content.
 */
function publicationAnswer(world: World, { identifier, user, action }: ViewRequest): Answer {
  if (isMaster(user)) return 'served'
  const found = publicationNamed(world, identifier)
  const { verb, cluster, resource } = action
  if (found === undefined || !['get', 'list', 'watch'].includes(verb)) return 'refused'
  const isBound = world.apiBindings.some(
    binding =>
      binding.cluster === cluster &&
      binding.to.cluster === found.cluster &&
      binding.resources.some(each => each.group === 'example.com' && each.resource === 'regions'),
  )
  if (cluster !== '*' && resource !== undefined && !isBound) return 'refused'
  const content = {
    group: 'apis.kcp.io',
    version: 'v1alpha1',
    resource: 'apiexports',
    subresource: 'content',
  }
  const asking = { verb, cluster: found.cluster, resource: { ...content, namespace: '', name: 'widgets' } }
  return mayPlainly(world, user, asking) ? 'served' : 'refused'
}

/** Schemas are read-only, for users who may get the bindings that refer to them. */
function schemaAnswer(world: World, { user, action }: ViewRequest): Answer {
  if (isMaster(user)) return 'served'
  const binding = { group: 'apis.kcp.io', version: 'v1alpha2', resource: 'apibindings', subresource: '' }
  const asking = { verb: 'get', cluster: action.cluster, resource: { ...binding, namespace: '', name: '' } }
  const reads = ['get', 'list', 'watch'].includes(action.verb)
  return reads && mayPlainly(world, user, asking) ? 'served' : 'refused'
}

export const dumps = '/apis/migration.kcp.io/v1alpha1/logicalclusterdumps'

/** Migrating logical clusters are served to shards only. */
function movingAnswer({ user, action }: ViewRequest): Answer {
  if (!isMaster(user) && !user.groups.includes('system:kcp:external-logical-cluster-admin')) return 'refused'
  return action.path === dumps ? 'served' : 'nothing'
}

type Role = 'initializer' | 'terminator'
const verbs = { initializer: 'initialize', terminator: 'terminate' } as const
const isMaster = (user: UserInfo): boolean => user.groups.includes('system:masters')

function lifeAnswer(world: World, { identifier, user, action }: ViewRequest, role: Role): Answer {
  const [cluster = '', name, ...more] = identifier.split(':')
  const type = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspacetypes', subresource: '' }
  const asking = { verb: verbs[role], cluster, resource: { ...type, namespace: '', name: name ?? '' } }
  if (!isMaster(user) && (!name || more.length > 0 || !mayPlainly(world, user, asking))) return 'refused'
  if (action.cluster === '*') return 'served'
  const { resource } = action
  if (resource?.group === 'core.kcp.io' && resource.resource === 'logicalclusters')
    return waitingFor(world, role, identifier).includes(action.cluster) ? 'served' : 'absent'
  if (!waitingFor(world, role, identifier).includes(action.cluster)) return 'refused'
  const rules = permissionsOf(world, identifier, role)
  if (rules === undefined) return 'broken'
  if (rules.length > 0) {
    const marked = { ...user, groups: [`system:kcp:${role}:${identifier}`, ...user.groups] }
    return rules.some(rule => allows(rule, action)) && mayPlainly(world, marked, action)
      ? 'served'
      : 'refused'
  }
  const owner = world.tree.lives[action.cluster]?.owner
  if (owner === undefined) return 'broken'
  return mayPlainly(world, asOwner(owner), action) ? 'served' : 'refused'
}

/** Without warrants, and without the groups of administrators. */
function asOwner({ extra = {}, groups, ...user }: UserInfo): UserInfo {
  const { 'authorization.kcp.io/warrant': _, ...kept } = extra
  const own = groups.filter(group => group !== 'system:masters' && !group.startsWith('system:kcp:'))
  return { ...user, groups: own, extra: kept }
}

/** The permissions of the type; none for the server's own types, undefined without a type. */
function permissionsOf({ tree }: World, identifier: string, role: Role): readonly PolicyRule[] | undefined {
  if (identifier.startsWith('system:')) return []
  return tree.types.find(({ cluster, name }) => `${cluster}:${name}` === identifier)?.permissions[role]
}

/** The logical clusters with initializers or terminators. */
export function waitingFor({ clusters, tree }: World, role: Role, identifier: string): readonly string[] {
  const isWaiting = (name: string, life: Life): boolean =>
    role === 'initializer'
      ? clusters[name]?.phase === 'Initializing' && life.initializers.includes(identifier)
      : life.isDeleting && life.terminators.includes(identifier)
  return Object.keys(tree.lives).filter(name => isWaiting(name, tree.lives[name] as Life))
}

function mountAnswer(world: World, { user, action }: ViewRequest): Answer {
  const { resource } = action
  const asked =
    resource?.subresource === 'proxy'
      ? { ...action, verb: 'proxy', resource: { ...resource, subresource: '' } }
      : action
  return mayPlainly(world, user, asked) ? 'served' : 'refused'
}

function workspaceAnswer(world: World, { user, action }: ViewRequest): Answer {
  if (!mayPlainly(world, user, action)) return 'refused'
  // System clusters have no workspaces.
  if (!exists(world, action.cluster) || action.cluster === systemAdmin) return 'absent'
  const { name } = action.resource ?? { name: '' }
  if (name === '') return 'served'
  const found = world.tree.workspaces.find(each => each.cluster === action.cluster && each.name === name)
  return found !== undefined && isOwn(world, user, found) ? 'served' : 'absent'
}

/** Whether a user may access a workspace, or administrate it. Until it is ready, only its creator may. */
export function isOwn(world: World, user: UserInfo, child: Child): boolean {
  if (isMaster(user)) return true
  if (['Scheduling', 'Initializing'].includes(child.phase) && child.creator === user.name) return true
  const inside = child.isMount ? child.cluster : child.inside
  if (inside !== '' && mayPlainly(world, user, { verb: 'access', cluster: inside, path: '/' })) return true
  const workspace = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces', subresource: '' }
  const resource = { ...workspace, namespace: '', name: child.name }
  return mayPlainly(world, user, { verb: 'update', cluster: child.cluster, resource })
}
