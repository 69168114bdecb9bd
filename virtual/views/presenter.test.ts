import assert from 'node:assert/strict'
import { type Item, itemOf, type KubeObject } from '../../framework/index.ts'
import { KeptResults } from '../../framework/lens/keptresults.ts'
import type { Failures } from './failures.ts'
import type { ResourcePlan } from './plan.ts'
import { type KeptShown, type PresentedFor, Presenter } from './presenter.ts'

const annotating = {
  source: { group: '', version: 'v1' },
  hide: [],
  annotate: [{ name: 'example.com/a', expression: { evaluate: () => ({ value: 'b' }) } }],
  readsClusters: false,
  readsUser: false,
} as unknown as ResourcePlan

const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data: { text: 'x'.repeat(10_000) },
}

describe('the kept items of a View', () => {
  const kept = new KeptResults<KeptShown>(100_000)
  const presenter = new Presenter(annotating, {} as Failures, kept)
  const present = (item: Item): Item | undefined => presenter.presented(item, {} as PresentedFor)

  it('are those shown last, as far as their decoded objects have room', () => {
    const item = itemOf(object, 'one')
    const shown = present(item)
    assert.deepEqual(shown?.meta.annotations, { 'example.com/a': 'b' })
    assert.equal(present(item), shown)
    for (let i = 0; i < 6; i++) present(itemOf(object, 'one'))
    assert.notEqual(present(item), shown)
  })
})
