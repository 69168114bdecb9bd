import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type ApiResource, type ApiSet, apiSetOf } from '../../framework/index.ts'
import { QueryApis, type QueryOptions } from './apis.ts'

const user = { name: 'user', groups: [] }

const resourceOf = (plural: string): ApiResource =>
  ({
    group: 'example.com',
    version: 'v1',
    names: {
      plural,
      singular: plural,
      kind: 'Widget',
      listKind: 'WidgetList',
      shortNames: [],
      categories: [],
    },
    verbs: ['list'],
    columns: [],
    storage: {},
    subresources: [],
  }) as unknown as ApiResource

describe('the resources of queries', () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const sets = new Map<string, ApiSet>()
  const options = {
    host: {
      backend: { apis: (cluster: string) => sets.get(cluster) },
      informers: { for: () => ({ get: () => undefined }) },
    },
    visible: { last: () => [...sets.keys()] },
  } as unknown as QueryOptions

  it('are computed once as long as those of the logical clusters are the same', () => {
    const apis = new QueryApis(options)
    sets.set('a', apiSetOf([resourceOf('widgets')]))
    for (const cluster of ['a', '*']) {
      const first = apis.of(cluster, user)
      assert.equal(apis.of(cluster, user), first)
      sets.set('a', apiSetOf([resourceOf('gadgets')]))
      assert.ok(apis.of(cluster, user)?.find('example.com', 'v1', 'gadgets'))
    }
  })

  it('are not kept when the logical cluster is gone', async () => {
    const apis = new QueryApis(options)
    const made = new WeakRef(madeAndForgotten(apis))
    await turn()
    collectGarbage()
    assert.equal(made.deref(), undefined)
  })

  function madeAndForgotten(apis: QueryApis): object {
    const { names } = resourceOf('fleeting')
    sets.set('c', apiSetOf([{ ...resourceOf('fleeting'), names }]))
    assert.ok(apis.of('c', user)?.find('example.com', 'v1', 'fleeting'))
    sets.delete('c')
    return names
  }
})
