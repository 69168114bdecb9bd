import type { Informers } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import { type ClusterName, groupResource } from '../../framework/meta/object.ts'
import type { APIBinding, APIResourceSchema } from '../../kcp/apis.ts'
import { boundCRDsCluster } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import { namesOf, resourceName } from './namingconflicts.ts'

/** Who has resources and names in a logical cluster: by indexes, since it may have thousands of bindings and definitions. */
export interface NamesInUse {
  /** The bindings that have the resource (`<plural>.<group>`). */
  holdersOf(cluster: ClusterName, resource: string): readonly Item[]
  /** The bindings that have a resource of this group with one of the names (`namesOf`). */
  bindingsWith(cluster: ClusterName, group: string, names: readonly string[]): readonly Item[]
  /** The definitions of this group whose spec has one of the names. */
  definitionsWith(cluster: ClusterName, group: string, names: readonly string[]): readonly Item[]
}

export function namesInUse(informers: Informers): NamesInUse {
  const holders = informers.for(resources.apiBindings).index(resourceKeysOf)
  const definitions = informers.for(resources.crds).index(nameKeysOf)
  const schemas = informers.for(resources.apiResourceSchemas).index(nameKeysIn)
  const withNames = (find: typeof schemas, place: string, group: string, names: readonly string[]) => [
    ...new Set(names.flatMap(name => find(nameKey(place, group, name)))),
  ]
  const holdersOf = (cluster: ClusterName, resource: string): readonly Item[] =>
    holders(`${cluster}|${resource}`)
  return {
    holdersOf,
    definitionsWith: (cluster, group, names) => withNames(definitions, cluster, group, names),
    bindingsWith(cluster, group, names) {
      const originals = withNames(schemas, '', group, names)
      const copies = withNames(definitions, boundCRDsCluster, group, names)
      const uids = new Set([...originals.map(({ meta }) => meta.uid), ...copies.map(({ key }) => key.name)])
      const plurals = new Set([...originals, ...copies].map(pluralOf))
      const found = [...plurals].flatMap(plural => holdersOf(cluster, groupResource(group, plural)))
      return [...new Set(found)].filter(item => boundBy(item).some(({ schema }) => uids.has(schema.UID)))
    },
  }
}

const boundBy = ({ object }: Item) => (object as APIBinding).status?.boundResources ?? []

/** APIResourceSchemas, CustomResourceDefinitions, and copies of bound schemas. */
const specOf = ({ object }: Item) => (object as APIResourceSchema).spec

const pluralOf = (item: Item): string => specOf(item).names.plural

const nameKey = (place: string, group: string, name: string): string => `${place}|${group}|${name}`

const keysIn = (item: Item, place: string): readonly string[] => {
  const { group, names } = specOf(item)
  return namesOf(names).map(name => nameKey(place, group, name))
}

const resourceKeysOf = (item: Item): readonly string[] =>
  boundBy(item).map(bound => `${item.key.cluster}|${resourceName(bound)}`)
const nameKeysOf = (item: Item): readonly string[] => keysIn(item, item.key.cluster)
/** Schemas are found from any logical cluster. */
const nameKeysIn = (item: Item): readonly string[] => keysIn(item, '')
