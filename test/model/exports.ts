import type { Random } from './random.ts'
import {
  type AcceptedClaim,
  type Bound,
  type Claim,
  type ConfigMap,
  type Export,
  namespaces,
} from './world.ts'

const claimVerbs = [['*'], ['get', 'list'], ['get', 'list', 'create', 'update'], ['create', 'delete']]

export function exportsIn(random: Random, cluster: string): readonly Export[] {
  const claims = (): readonly Claim[] => {
    const all: readonly Claim[] = [
      { group: '', resource: 'configmaps', verbs: random.pick(claimVerbs) },
      { group: '', resource: 'secrets', verbs: random.pick(claimVerbs) },
      {
        group: 'example.com',
        resource: 'gadgets',
        verbs: random.pick(claimVerbs),
        identityHash: random.pick(['id-maker', 'id-seller', 'id-nobody']),
      },
      { group: 'apis.kcp.io', resource: 'apibindings', verbs: random.pick(claimVerbs) },
    ]
    return all.filter(() => random.chance(0.6))
  }
  const policy = random.pick(['none', 'local'] as const)
  return [{ cluster, name: 'widgets', identity: `id-${cluster}`, policy, claims: claims() }]
}

export function apiBindingsIn(random: Random, cluster: string, exports: readonly Export[]): readonly Bound[] {
  return exports
    .filter(() => random.chance(0.7))
    .map((to): Bound => {
      const identity = random.chance(0.9) ? to.identity : 'id-other'
      const resource = to.cluster === 'maker' ? 'widgets' : 'gadgets'
      const served = [
        ...(random.chance(0.9) ? [{ group: 'example.com', resource, identity }] : []),
        ...(random.chance(0.7)
          ? [{ group: 'example.com', resource: 'regions', identity: `published-${to.cluster}` }]
          : []),
      ]
      const claims = to.claims.filter(() => random.chance(0.8)).map(claim => acceptedOf(random, claim))
      return {
        cluster,
        name: `to-${to.cluster}`,
        to: { cluster: to.cluster, name: to.name },
        resources: served,
        claims,
      }
    })
}

function acceptedOf(random: Random, claim: Claim): AcceptedClaim {
  const { identityHash, ...plain } = claim
  const other = identityHash !== undefined && random.chance(0.2) ? { identityHash: 'id-other' } : claim
  return {
    ...plain,
    ...(other.identityHash === undefined ? {} : { identityHash: other.identityHash }),
    verbs: random.chance(0.7) ? claim.verbs : random.pick(claimVerbs),
    state: random.chance(0.8) ? 'Accepted' : 'Rejected',
    selector: random.chance(0.6)
      ? { matchAll: true }
      : { matchLabels: { tier: random.pick(['front', 'back']) } },
  }
}

export const configMapsIn = (random: Random, cluster: string): readonly ConfigMap[] =>
  ['a', 'b', 'c'].map(name => ({
    cluster,
    namespace: random.pick(namespaces),
    name,
    labels: random.chance(0.7) ? { tier: random.pick(['front', 'back']) } : {},
  }))
