import type { Random } from '../random.ts'

/** The tier of a workspace; undefined: no label. */
export type Tier = 'gold' | 'silver' | undefined

/** What the test writes of a widget. */
export interface Widget {
  readonly cluster: string
  readonly name: string
  readonly color?: string
  readonly size: number
  readonly team: string
  readonly token: string
}

/** A filter as CEL and as a function, which is false where the expression fails. */
interface Filter {
  readonly where: string
  readonly holds: (widget: Widget, tier: Tier, user: string) => boolean
}

/** The parameters of all Views. */
export const params = { least: 1, tiers: ['gold', 'silver'] }

const filters: readonly Filter[] = [
  { where: 'true', holds: () => true },
  { where: "object.spec.color == 'red'", holds: ({ color }) => color === 'red' },
  { where: "cluster.labels['tier'] == 'gold'", holds: (_widget, tier) => tier === 'gold' },
  {
    where: "('tier' in cluster.labels && cluster.labels['tier'] == 'gold') || object.metadata.name == 'a'",
    holds: ({ name }, tier) => tier === 'gold' || name === 'a',
  },
  { where: "object.metadata.labels['team'] == user.name", holds: ({ team }, _tier, user) => team === user },
  {
    where: 'object.spec.size > 2 && object.spec.token != "t3"',
    holds: ({ size, token }) => size > 2 && token !== '' && token !== 't3',
  },
  {
    where: "cluster.path.endsWith('1') && (!has(object.spec.color) || object.spec.color != 'blue')",
    holds: ({ cluster, color }) => cluster.endsWith('1') && color !== 'blue',
  },
  {
    where: "object.metadata.labels['team'] == 'ops' && object.spec.size > params.least",
    holds: ({ team, size }) => team === 'ops' && size > params.least,
  },
  {
    where: "object.metadata.labels['team'] in ['ada', 'ops'] && cluster.labels['tier'] in params.tiers",
    holds: ({ team }, tier) => ['ada', 'ops'].includes(team) && params.tiers.includes(tier ?? ''),
  },
]

interface Added {
  readonly expression: string
  readonly value: (widget: Widget, tier: Tier, user: string) => string | undefined
}

const added: readonly Added[] = [
  { expression: 'user.name', value: (_widget, _tier, user) => user },
  { expression: "cluster.labels['tier']", value: (_widget, tier) => tier },
  {
    expression: 'string(object.spec.size) + cluster.name',
    value: ({ size, cluster }) => `${size}${cluster}`,
  },
]

/** A resource of a View, for the server and for the model. */
export interface Spec {
  readonly filter: Filter
  readonly hides: boolean
  readonly adds?: Added
}

export const randomSpec = (random: Random): Spec => ({
  filter: random.pick(filters),
  hides: random.chance(0.4),
  ...(random.chance(0.4) && { adds: random.pick(added) }),
})

export const annotation = 'example.com/added'

export const resourceOf = ({ filter, hides, adds }: Spec): object => ({
  group: 'example.com',
  resource: 'widgets',
  verbs: ['get', 'list', 'watch', 'update', 'delete'],
  where: filter.where,
  ...(hides && { hide: ['spec.token', 'metadata.labels[team]'] }),
  ...(adds && { annotate: { [annotation]: adds.expression } }),
})

/** What a user sees of a widget; undefined: nothing. */
export function shownBy(spec: Spec, widget: Widget, tier: Tier, user: string): string | undefined {
  if (!spec.filter.holds(widget, tier, user)) return undefined
  const value = spec.adds?.value(widget, tier, user)
  if (spec.adds !== undefined && value === undefined) return undefined
  const { cluster, name, color = '', size, team, token } = widget
  const own = [cluster, name, color, size]
  return JSON.stringify([...own, ...(spec.hides ? ['', ''] : [team, token]), value ?? ''])
}
