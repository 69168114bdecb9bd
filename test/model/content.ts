import type { Action } from '../../framework/contract/authorizer.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { homeKey, isRobot, marked, scopeKey, warranted } from './identities.ts'
import { mayPlainly } from './oracle.ts'
import type { Bound, Claim, ConfigMap, Export, World } from './world.ts'

/** Through the view of an export; `action.cluster` is one cluster or `*`. */
export function mayThroughView(world: World, of: Export, user: UserInfo, action: Action): boolean {
  if (user.groups.includes('system:masters')) return true
  const { cluster, resource, verb } = action
  const binding = world.apiBindings.find(
    each => each.cluster === cluster && each.to.cluster === of.cluster && each.to.name === of.name,
  )
  const isOpen = cluster === '*' ? !isUnclaimed(of, action) : isCovered(of, binding, action)
  if (resource !== undefined && !isOpen) return false
  const content = {
    group: 'apis.kcp.io',
    version: 'v1alpha1',
    resource: 'apiexports',
    subresource: 'content',
  }
  const asking = { verb, cluster: of.cluster, resource: { ...content, namespace: '', name: of.name } }
  if (!mayPlainly(world, user, asking)) return false
  if (resource === undefined) return true
  if (!claimedPoliciesAllow(world, of, user, action)) return false
  return cluster === '*' || mayPlainly(world, warranted(user, cluster), action)
}

function isCovered(of: Export, binding: Bound | undefined, { resource, verb }: Action): boolean {
  if (binding === undefined || resource === undefined) return false
  const { group, resource: plural } = resource
  if (binding.resources.some(b => b.group === group && b.resource === plural && b.identity === of.identity))
    return true
  const claim = claimOn(of, group, plural)
  const has = (each: Claim): boolean => hasAny(each, verb)
  const isTaken = binding.claims.some(
    each =>
      claim !== undefined &&
      each.state === 'Accepted' &&
      each.group === group &&
      each.resource === plural &&
      each.identityHash === claim.identityHash &&
      has(each) &&
      has(claim),
  )
  if (isTaken) return true
  return group === 'apis.kcp.io' && plural === 'apibindings' && ['get', 'list', 'watch'].includes(verb)
}

const hasAny = ({ verbs }: Claim, ...wanted: readonly string[]): boolean =>
  ['*', ...wanted].some(verb => verbs.includes(verb))

/** In requests to all logical clusters. */
function isUnclaimed(of: Export, { resource, verb }: Action): boolean {
  const claim = resource && claimOn(of, resource.group, resource.resource)
  const isReadable = resource?.group === 'apis.kcp.io' && resource.resource === 'apibindings'
  return claim !== undefined && !isReadable && !hasAny(claim, verb)
}

const claimOn = (of: Export, group: string, resource: string): Claim | undefined =>
  of.claims.find(claim => claim.group === group && claim.resource === resource)

function claimedPoliciesAllow(world: World, of: Export, user: UserInfo, action: Action): boolean {
  const { resource } = action
  const claim = resource && claimOn(of, resource.group, resource.resource)
  if (claim?.identityHash === undefined) return true
  const from = world.exports.filter(each => each.identity === claim.identityHash)
  const { [homeKey]: _home, [scopeKey]: _scopes, ...kept } = marked(user).extra ?? {}
  const asker = isRobot(user) ? { ...marked(user), extra: kept } : marked(user)
  return (
    from.length > 0 &&
    from.every(
      each =>
        each.policy !== 'local' || mayPlainly(world, asker, { ...action, cluster: each.cluster, deep: true }),
    )
  )
}

/**
 * The ConfigMaps that an export's view serves in one logical cluster or in all: those of accepted claims, in all only with a verb
 * that reads many, within their selectors.
 */
export const claimedConfigMaps = (world: World, of: Export, scope: string): readonly ConfigMap[] =>
  world.configMaps.filter(({ cluster, labels }) =>
    world.apiBindings.some(
      binding =>
        binding.cluster === cluster &&
        binding.to.cluster === of.cluster &&
        binding.to.name === of.name &&
        binding.claims.some(
          claim =>
            claim.resource === 'configmaps' &&
            claim.state === 'Accepted' &&
            (scope !== '*' || hasAny(claim, 'list', 'watch')) &&
            (claim.selector.matchAll === true || labels.tier === claim.selector.matchLabels?.tier),
        ),
    ),
  )
