import type { Random } from '../../model/random.ts'
import type { Tenant } from '../../support/tenants.ts'
import type { ShardName } from './scene.ts'

// The world of the model: providers, consumers, and what they have written. Nothing here asks a server.

/** A resource in a workspace: `secrets`, or `gadgets` of the group of an export. */
export interface Kind {
  readonly group: string
  readonly resource: string
}

/** A workspace on a shard. */
export interface Placed extends Tenant {
  shard: ShardName
}

export interface Provider extends Placed {
  /** The name of its export, and the group of its gadgets. */
  readonly group: string
  readonly identity: string
  /** The claims of its export, as indices of `World.claimable`. */
  claims: ReadonlySet<number>
  /** Those that every shard knows. */
  settled: ReadonlySet<number>
}

export type Selector = 'all' | 'front' | 'back'
export interface AcceptedClaim {
  readonly state: 'Accepted' | 'Rejected'
  readonly selector: Selector
}
export type AcceptedClaims = ReadonlyMap<number, AcceptedClaim>

export interface Written {
  readonly tier: Selector
  readonly value: number
}

export interface Consumer extends Placed {
  readonly bindings: Map<Provider, AcceptedClaims>
  /** By `<group>/<resource>` and name. */
  readonly objects: Map<string, Map<string, Written>>
  /** The number of the last write of each object, also of deleted ones. */
  readonly values: Map<string, number>
}

export interface World {
  /** Whether a shard is being killed and started: connections end, and requests fail. */
  isDown: boolean
  readonly providers: readonly Provider[]
  readonly consumers: readonly Consumer[]
  /** What exports claim: the gadgets of another export by its identity. */
  readonly claimable: readonly Kind[]
}

export const idOf = ({ group, resource }: Kind): string => `${group}/${resource}`

export const gadgetsOf = ({ group }: Provider): Kind => ({ group, resource: 'gadgets' })

/** Built-in resources have namespaces here, and gadgets have none. */
export const namespaceOf = ({ group }: Kind): string => (group === '' ? 'default' : '')

/** What the view of an export shows of one resource, over all logical clusters: `<id>=<number of the last write>`. */
export function expectedOf(
  { consumers, claimable }: World,
  provider: Provider,
  kind: Kind,
): readonly string[] {
  if (!isServed({ claimable }, provider, kind)) return []
  const isOwn = isOwnKind(provider, kind)
  const claim = indexOf(claimable, kind)
  return consumers.flatMap(consumer => {
    const accepted = consumer.bindings.get(provider)
    const objects = [...(consumer.objects.get(idOf(kind)) ?? [])]
    const visible = objects.filter(
      ([, { tier }]) => accepted !== undefined && (isOwn || isSelected(accepted.get(claim), tier)),
    )
    return visible.map(([name, { value }]) => `${consumer.cluster}/${namespaceOf(kind)}/${name}=${value}`)
  })
}

const isOwnKind = (provider: Provider, kind: Kind): boolean => idOf(kind) === idOf(gadgetsOf(provider))

const indexOf = (claimable: World['claimable'], kind: Kind): number =>
  claimable.findIndex(each => idOf(each) === idOf(kind))

/** Whether the view of an export has a resource, by its claims. */
export const isServed = (
  { claimable }: Pick<World, 'claimable'>,
  provider: Provider,
  kind: Kind,
  claims = provider.claims,
): boolean => isOwnKind(provider, kind) || claims.has(indexOf(claimable, kind))

const isSelected = (claim: AcceptedClaim | undefined, tier: Selector): boolean =>
  claim?.state === 'Accepted' && (claim.selector === 'all' || claim.selector === tier)

/** The resources of which a view may show objects. */
export const kindsOf = ({ claimable }: World, provider: Provider): readonly Kind[] => [
  gadgetsOf(provider),
  ...claimable.filter(kind => idOf(kind) !== idOf(gadgetsOf(provider))),
]

export const anyTier = (random: Random): Selector => random.pick(['front', 'back'])

/** Claims of an export on some of the resources, but not on its own. */
export function anyClaims(
  random: Random,
  { claimable }: Pick<World, 'claimable'>,
  group: string,
): ReadonlySet<number> {
  const others = [...claimable.keys()].filter(index => claimable[index]?.group !== group)
  return new Set(others.filter(() => random.chance(0.7)))
}

/** What a consumer accepts: of any claim, also of those that the export does not have now. */
export function anyAccepted(random: Random, { claimable }: World, { group }: Provider): AcceptedClaims {
  const others = [...claimable.keys()].filter(index => claimable[index]?.group !== group)
  return new Map(
    others
      .filter(() => random.chance(0.9))
      .map((index): [number, AcceptedClaim] => [
        index,
        {
          state: random.chance(0.75) ? 'Accepted' : 'Rejected',
          selector: random.pick(['all', 'front', 'back']),
        },
      ]),
  )
}
