import type { PolicyRule } from '../../authz/rbac/policyrule.ts'
import type { RbacSubject } from '../../authz/rbac/rbacsource.ts'
import type { Action } from '../../framework/contract/authorizer.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { identitiesOf, isLocalRobot, marked, namedIn } from './identities.ts'
import { type Export, systemAdmin, type World } from './world.ts'

// Decides requests from all objects of the world, as kcp's `pkg/authorization` and `pkg/virtual/apiexport/authorizer` do.
// It shares no code with the checked implementation, and is not optimized.
/** At the plain endpoint. */
export function mayPlainly(world: World, user: UserInfo, action: Action): boolean {
  if (user.groups.includes('system:masters')) return true
  const { path, verb, resource } = action
  const isHealth = ['/healthz', '/readyz', '/livez'].includes(path ?? '')
  if (resource === undefined && isHealth && ['get', 'head'].includes(verb)) return true
  return passesChain(world, user, action)
}

function passesChain(world: World, user: UserInfo, action: Action): boolean {
  if (action.cluster === '*') return false
  const deep = action.deep === true && action.resource?.group !== 'authorization.k8s.io'
  if (!deep && !isMember(world, user, action.cluster)) return false
  const content = inside(world, user, action, deep)
  if (content !== 'go on') return content === 'yes'
  const { resource } = action
  const guarded = ['apibindings', 'apiexports'].includes(resource?.resource ?? '')
  if (resource?.group === 'apis.kcp.io' && resource.subresource === 'status' && guarded) return false
  if (!deep && !policiesAllow(world, user, action)) return false
  const identities = identitiesOf(user, action.cluster)
  return [systemAdmin, action.cluster].some(where => rbacAllows(world, identities, where, action))
}

/** 01: required groups. */
function isMember(world: World, user: UserInfo, cluster: string): boolean {
  const has = (group: string): boolean =>
    identitiesOf(user, cluster).some(identity => identity.groups.includes(group))
  if (has('system:kcp:logical-cluster-admin')) return true
  if (isLocalRobot(user, cluster)) return true
  const state = world.clusters[cluster]
  if (state === undefined) return false
  if (has('system:kcp:external-logical-cluster-admin') || state.required === undefined) return true
  if (has('system:kcp:admin') || has('system:kcp:tenancy:workspace-bootstrapper')) return true
  return state.required.split(';').some(all => all.split(',').every(has))
}

/** 02: access to the workspace. */
function inside(world: World, user: UserInfo, action: Action, deep: boolean): 'yes' | 'no' | 'go on' {
  const { cluster } = action
  if (action.resource === undefined && action.path === '/metrics') return 'go on'
  if (cluster.startsWith('system:')) return 'no'
  if (deep) return 'go on'
  const identities = identitiesOf(user, cluster)
  if (identities.some(({ groups }) => groups.includes('system:kcp:logical-cluster-admin'))) return 'go on'
  const phase = world.clusters[cluster]?.phase
  if (phase === undefined) return 'no'
  if (!['Initializing', 'Ready', 'Inactive', 'Terminating', 'Deleting'].includes(phase)) return 'no'
  const isMarked = user.groups.some(group => /^system:kcp:(initializer|terminator):/.test(group))
  if (isMarked && ['Initializing', 'Terminating', 'Deleting'].includes(phase)) return 'yes'
  if (isLocalRobot(user, cluster)) return 'go on'
  const access = { verb: 'access', cluster, path: '/' }
  const open = [systemAdmin, cluster].some(where => rbacAllows(world, identities, where, access))
  return open ? 'go on' : 'no'
}

const tenancyExport: Export = {
  cluster: 'root',
  name: 'tenancy.kcp.io',
  identity: '',
  policy: 'local',
  claims: [],
}

const ofTenancy = ['workspaces', 'workspacetypes', 'workspaceauthenticationconfigurations']

/** 04: every export of the resource. Every logical cluster binds root's tenancy export. */
function policiesAllow(world: World, user: UserInfo, action: Action): boolean {
  const { resource, cluster } = action
  if (resource === undefined) return true
  const bindings = world.apiBindings.filter(
    binding =>
      binding.cluster === cluster &&
      binding.resources.some(bound => bound.group === resource.group && bound.resource === resource.resource),
  )
  const exports = bindings.flatMap(({ to }) =>
    world.exports.filter(each => each.cluster === to.cluster && each.name === to.name),
  )
  const isOfTenancy = resource.group === 'tenancy.kcp.io' && ofTenancy.includes(resource.resource)
  const all = isOfTenancy && world.clusters[cluster] ? [...exports, tenancyExport] : exports
  return all.every(each => each.policy !== 'local' || policyAllows(world, each, user, action))
}

function policyAllows(world: World, each: Export, user: UserInfo, action: Action): boolean {
  const identities = identitiesOf(marked(namedIn(user, each.cluster)), action.cluster)
  const anywhere = { ...action, ...(action.resource && { resource: { ...action.resource, namespace: '' } }) }
  return (
    rbacAllows(world, identities, each.cluster, action) ||
    rbacAllows(world, identities, systemAdmin, anywhere)
  )
}

/** Whether a binding in this cluster grants one of these identities a role with a rule that allows the action. */
function rbacAllows(world: World, identities: readonly UserInfo[], where: string, action: Action): boolean {
  const namespace = action.resource?.namespace ?? ''
  for (const binding of [...world.policy.bindings, ...world.bindings]) {
    if (binding.cluster !== where) continue
    if (binding.namespace !== '' && binding.namespace !== namespace) continue
    if (!identities.some(one => binding.subjects.some(subject => means(subject, binding.namespace, one))))
      continue
    const place = binding.role.kind === 'Role' ? binding.namespace : ''
    const roles = [...world.policy.roles, ...world.roles].filter(
      role =>
        [where, systemAdmin].includes(role.cluster) &&
        role.namespace === place &&
        role.name === binding.role.name,
    )
    if (roles.some(role => role.rules.some(rule => allows(rule, action)))) return true
  }
  return false
}

function means(subject: RbacSubject, bindingNamespace: string, identity: UserInfo): boolean {
  if (subject.kind === 'User') return identity.name === subject.name
  if (subject.kind === 'Group') return identity.groups.includes(subject.name)
  const namespace = subject.namespace ?? bindingNamespace
  return namespace !== '' && identity.name === `system:serviceaccount:${namespace}:${subject.name}`
}

export function allows(rule: PolicyRule, { verb, resource, path = '' }: Action): boolean {
  const isOne = (list: readonly string[] | undefined, value: string): boolean =>
    (list ?? []).some(each => each === '*' || each === value)
  if (!isOne(rule.verbs, verb)) return false
  if (resource === undefined)
    return (rule.nonResourceURLs ?? []).some(
      url => url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))),
    )
  const { group, subresource, name } = resource
  const wanted =
    subresource === '' ? [resource.resource] : [`${resource.resource}/${subresource}`, `*/${subresource}`]
  return (
    isOne(rule.apiGroups, group) &&
    (rule.resources ?? []).some(each => each === '*' || wanted.includes(each)) &&
    ((rule.resourceNames ?? []).length === 0 || (rule.resourceNames ?? []).includes(name))
  )
}
