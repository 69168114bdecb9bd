import type { Informer, Informers } from '../../contract/informer.ts'
import { type Item, itemOf } from '../../contract/item.ts'
import type { KubeObject } from '../../meta/object.ts'

/** Objects that a test puts and takes, as informers show them. */
export interface Objects extends Informers {
  put(cluster: string, object: KubeObject): void
  remove(cluster: string, kind: string, namespace: string, name: string): void
}

export function createObjects(): Objects {
  const items = new Map<string, Item>()
  const id = (...parts: readonly string[]): string => parts.join('|')
  const informer = (resource: string): Informer => ({
    get: (cluster, namespace, name) => items.get(id(resource, cluster, namespace, name)),
    list: () => [],
    index: () => () => [],
    onEvent: () => () => undefined,
    synced: Promise.resolve(),
  })
  const resourceOf = (kind: string): string => `${kind.toLowerCase()}s`
  return {
    for: ({ resource }) => informer(resource),
    put(cluster, object) {
      const { namespace = '', name = '' } = object.metadata
      items.set(id(resourceOf(object.kind), cluster, namespace, name), itemOf(object, cluster))
    },
    remove: (cluster, kind, namespace, name) =>
      void items.delete(id(resourceOf(kind), cluster, namespace, name)),
  }
}
