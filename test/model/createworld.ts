import { apiBindingsIn, configMapsIn, exportsIn } from './exports.ts'
import { rbacIn, startingPolicy } from './policies.ts'
import { publicationsIn } from './publications.ts'
import type { Random } from './random.ts'
import { createTree, treeRbac } from './tree.ts'
import { names, providers, systemAdmin, type World } from './world.ts'

const phases = [
  'Ready',
  'Ready',
  'Ready',
  'Initializing',
  'Initializing',
  'Inactive',
  'Terminating',
  'Deleting',
  'Scheduling',
  '',
]

const required = ['dev', 'dev,ops', 'dev,ops', 'dev,ops;qa', '']

export function createWorld(random: Random): World {
  const existing = names.filter(() => random.chance(0.95))
  const clusters = Object.fromEntries(
    existing.map(name => {
      const phase = random.pick(phases)
      return [name, random.chance(0.45) ? { phase, required: random.pick(required) } : { phase }]
    }),
  )
  const exports = providers.filter(p => existing.includes(p)).flatMap(cluster => exportsIn(random, cluster))
  const rbac = [...existing, systemAdmin].flatMap(cluster => rbacIn(random, cluster))
  const forTree = existing.flatMap(cluster => treeRbac(random, cluster))
  const all = [...rbac, ...forTree]
  return {
    clusters: { ...clusters, root: { phase: 'Ready' } },
    roles: all.flatMap(each => each.roles),
    bindings: all.flatMap(each => each.bindings),
    policy: startingPolicy(),
    exports,
    apiBindings: existing.flatMap(cluster => apiBindingsIn(random, cluster, exports)),
    configMaps: existing.flatMap(cluster => configMapsIn(random, cluster)),
    tree: createTree(random, existing),
    publications: publicationsIn(
      random,
      providers.filter(each => existing.includes(each)),
    ),
  }
}
