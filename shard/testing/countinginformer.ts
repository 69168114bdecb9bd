import type { IndexFn, Informer } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { KubeObject } from '../../framework/meta/object.ts'

/** An informer of objects in one logical cluster, for tests, which counts how often objects are read. */
export function countingInformer(objects: readonly KubeObject[], cluster = 'root') {
  const reads = { count: 0 }
  const items = objects.map(object => ({
    key: { cluster, namespace: '', name: object.metadata.name },
    meta: { uid: object.metadata.uid ?? '', labels: object.metadata.labels ?? {} },
    get object() {
      reads.count++
      return object
    },
  })) as unknown as readonly Item[]
  const index = (fn: IndexFn) => {
    const found = new Map<string, Item[]>()
    for (const item of items) for (const key of fn(item)) found.set(key, [...(found.get(key) ?? []), item])
    return (key: string) => found.get(key) ?? []
  }
  const get: Informer['get'] = (where, _, name) =>
    where === cluster ? items.find(({ key }) => key.name === name) : undefined
  return { reads, informer: { get, index, list: () => items } as unknown as Informer }
}
