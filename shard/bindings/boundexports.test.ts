import assert from 'node:assert/strict'
import type { Informer, Informers } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import { pathAnnotation } from '../../kcp/annotations.ts'
import { boundExportsOf } from './boundexports.ts'
import type { BoundSet } from './boundsets.ts'

/** An APIExport `e` with a maximal permission policy, or without one. */
const exportIn = (cluster: string, path: string, local: boolean): Item =>
  ({
    key: { cluster, namespace: '', name: 'e' },
    meta: { annotations: { [pathAnnotation]: path } },
    object: { spec: local ? { maximalPermissionPolicy: { local: {} } } : {} },
  }) as unknown as Item

const exportsOf = (items: readonly Item[], set: Partial<BoundSet>) => {
  const informer = {
    onEvent: () => undefined,
    get: (cluster: string) => items.find(({ key }) => key.cluster === cluster),
    index: (keysOf: (item: Item) => readonly string[]) => (key: string) =>
      items.filter(item => keysOf(item).includes(key)),
  } as unknown as Informer
  const informers = { for: () => informer } as unknown as Informers
  const bound: BoundSet = { path: 'root:a', name: 'e', exportCluster: 'home', resources: new Set(), ...set }
  return boundExportsOf(informers, { of: () => [bound] }, () => undefined).of('c', 'g', 'r')
}

describe('the export of a bound resource', () => {
  const real = exportIn('home', 'root:a', true)

  it('is that in the logical cluster that was bound, also through a link', () => {
    for (const path of ['root:a', 'root:link'])
      assert.deepEqual(exportsOf([real], { path }), [
        { path: 'home', name: 'e', cluster: 'home', policy: 'local' },
      ])
  })

  it('is no other export with its path or with its logical cluster as path', () => {
    for (const path of ['root:a', 'home'])
      assert.equal(exportsOf([exportIn('other', path, false), real], {})[0]?.policy, 'local')
  })

  it('is found by its path until the binding knows its logical cluster', () => {
    const [found] = exportsOf([real], { exportCluster: undefined })
    assert.deepEqual([found?.cluster, found?.policy], ['home', 'local'])
  })
})
