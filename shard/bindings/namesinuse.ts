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
  const withNames = (find: typeof schemas, place: string, group: string, names: readonly string[]) => {
    const found = new Set<Item>()
    for (const name of names) for (const item of find(nameKey(place, group, name))) found.add(item)
    return found
  }
  const holdersOf = (cluster: ClusterName, resource: string): readonly Item[] =>
    holders(`${cluster}|${resource}`)
  return {
    holdersOf,
    definitionsWith: (cluster, group, names) => [...withNames(definitions, cluster, group, names)],
    bindingsWith(cluster, group, names) {
      const found = new Set<Item>()
      const add = (schema: Item, uid: string): void => {
        const resource = groupResource(group, pluralOf(schema))
        for (const item of holdersOf(cluster, resource)) if (hasSchema(item, resource, uid)) found.add(item)
      }
      for (const schema of withNames(schemas, '', group, names)) add(schema, schema.meta.uid)
      for (const copy of withNames(definitions, boundCRDsCluster, group, names)) add(copy, copy.key.name)
      return [...found]
    },
  }
}

/** Whether a binding has the resource with this schema. */
const hasSchema = (item: Item, resource: string, uid: string): boolean =>
  boundBy(item).some(bound => bound.schema.UID === uid && resourceName(bound) === resource)

const boundBy = ({ object }: Item) => (object as APIBinding).status?.boundResources ?? []

/** APIResourceSchemas, CustomResourceDefinitions, and copies of bound schemas. */
const specOf = ({ object }: Item) => (object as APIResourceSchema).spec

const pluralOf = (item: Item): string => specOf(item).names.plural

/** The key of a name of a group in an index; `place`: the logical cluster. */
export const nameKey = (place: string, group: string, name: string): string => `${place}|${group}|${name}`

const keysIn = (item: Item, place: string): readonly string[] => {
  const { group, names } = specOf(item)
  return namesOf(names).map(name => nameKey(place, group, name))
}

const resourceKeysOf = (item: Item): readonly string[] =>
  boundBy(item).map(bound => `${item.key.cluster}|${resourceName(bound)}`)
const nameKeysOf = (item: Item): readonly string[] => keysIn(item, item.key.cluster)
/** Schemas are found from any logical cluster. */
const nameKeysIn = (item: Item): readonly string[] => keysIn(item, '')
