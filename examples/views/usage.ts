import type { OwnKind } from 'oriel/framework'
import type { ViewPlugin } from 'oriel/plugin'

/** An aggregate: how many config maps and secrets each logical cluster has, counted by events, and in `root` how many all have. */
const usage: ViewPlugin = ({ apiSetOf, defineVirtualWorkspace, ObjectMap, resourceOf, storageOf }) =>
  defineVirtualWorkspace('usage', '/services/usage', ({ informers }) => {
    const kind: OwnKind = {
      group: 'example.com',
      version: 'v1',
      resource: 'usages',
      kind: 'Usage',
      columns: { Count: ({ count }) => Number(count) },
    }
    const usages = new ObjectMap(kind)
    const add = (cluster: string, name: string, difference: number) => {
      const { count = 0 } = (usages.get(cluster, name) ?? {}) as { readonly count?: number }
      usages.set(cluster, { metadata: { name }, count: count + difference })
    }
    const counted = ['configmaps', 'secrets'].map(resource => {
      const informer = informers.for({ group: '', version: 'v1', resource })
      informer.onEvent(({ type, item }) => {
        const difference = { ADDED: 1, DELETED: -1, MODIFIED: 0, BOOKMARK: 0 }[type]
        if (difference === 0) return
        add(item.key.cluster, resource, difference)
        add('root', `all-${resource}`, difference)
      })
      return informer.synced
    })
    const apis = apiSetOf([resourceOf(kind, storageOf(usages))])
    return {
      apis: () => apis,
      run: async ready => {
        await Promise.all(counted)
        ready()
      },
    }
  })

export default usage
