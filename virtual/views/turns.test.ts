import assert from 'node:assert/strict'
import { type Item, itemOf, type RequestContext } from '../../framework/index.ts'
import type { ResourcePlan } from './plan.ts'
import { plannedStorage } from './testing/planned.ts'

const spin = (milliseconds: number): void => {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

const items = Array.from({ length: 1_500 }, (_, i) =>
  itemOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `n${i}`, resourceVersion: '1' } }, 'one'),
)

/** A View with an expression that takes long, and the most objects that it was evaluated for in one turn of the event loop. */
function slowView() {
  let [inTurn, most] = [0, 0]
  const evaluate = () => {
    if (inTurn++ === 0)
      setImmediate(() => {
        inTurn = 0
      })
    most = Math.max(most, inTurn)
    spin(0.06)
    return { value: true }
  }
  const source = {
    group: '',
    version: 'v1',
    names: { plural: 'configmaps', kind: 'ConfigMap' },
    storage: {
      async *list() {
        yield items
        return { resourceVersion: '1' }
      },
      async *watch() {
        yield items.map(item => ({ type: 'ADDED', item }))
      },
    },
  }
  const plan = { source, field: '', hide: [], annotate: [], where: { evaluate } } as unknown as ResourcePlan
  return { storage: storageOf(plan), most: () => most }
}

const facts = { name: 'one', path: '', labels: {}, annotations: {} }
const storageOf = (plan: ResourcePlan) => plannedStorage(plan, { labelled: () => true, facts })

const key = { cluster: 'one', namespace: '', name: 'n0' }
const written = { dryRun: false, fieldManager: '' }

/** A View whose steps of a write take longer than a slice, and the turns of the event loop in which they ran. */
function slowWrite() {
  const steps: { readonly what: string; readonly turn: number }[] = []
  let turn = 0
  const step = (what: string): void => {
    const own = turn
    setImmediate(() => {
      turn = own + 1
    })
    steps.push({ what, turn })
    spin(3)
  }
  const [stored] = items as [Item]
  const evaluate = ({ item }: { readonly item: Item }) => {
    step(item === stored ? 'select the stored object' : 'select the new object')
    return { value: true }
  }
  const source = {
    subresources: [],
    group: '',
    version: 'v1',
    names: { plural: 'configmaps', kind: 'ConfigMap' },
    storage: {
      create: async () => stored,
      update: async (_ctx: unknown, _key: unknown, change: (item: Item) => Promise<unknown>) => {
        await change(stored)
        return stored
      },
    },
  }
  const plan = {
    source,
    field: '',
    hide: [],
    annotate: [],
    where: { evaluate },
    get writable() {
      return step('check what is written')
    },
  } as unknown as ResourcePlan
  return { storage: storageOf(plan), steps: () => steps }
}

const ctx = {
  user: { name: 'ada', groups: [] },
  signal: new AbortController().signal,
} as unknown as RequestContext

describe('other requests have their turn', () => {
  it('while a View evaluates its expressions for a list', async () => {
    for (const limit of [0, 5_000]) {
      const { storage, most } = slowView()
      let count = 0
      for await (const batch of storage.list(ctx, { cluster: '*', limit })) count += batch.length
      assert.equal(count, items.length)
      assert.ok(most() <= 400, `${most()} objects in one turn`)
    }
  })

  it('while a View evaluates its expressions for the events of a watch', async () => {
    const { storage, most } = slowView()
    const query = { cluster: '*', resourceVersion: '1', initialEvents: false, bookmarks: false }
    let count = 0
    for await (const batch of storage.watch(ctx, query)) count += batch.length
    assert.equal(count, items.length)
    assert.ok(most() <= 400, `${most()} objects in one turn`)
  })

  it('between the steps of a write through a View', async () => {
    const { storage, steps } = slowWrite()
    await storage.update(ctx, key, async ({ object }) => object, written)
    assert.deepEqual(
      steps().map(({ what }) => what),
      ['select the stored object', 'check what is written', 'select the new object'],
    )
    assert.equal(new Set(steps().map(({ turn }) => turn)).size, 3)
  })

  it('between the steps of a create through a View', async () => {
    const { storage, steps } = slowWrite()
    await storage.create(ctx, key, (items[0] as Item).object, written)
    assert.deepEqual(
      steps().map(({ what }) => what),
      ['check what is written', 'select the new object'],
    )
    assert.equal(new Set(steps().map(({ turn }) => turn)).size, 2)
  })
})
