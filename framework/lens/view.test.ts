import assert from 'node:assert/strict'
import fc from 'fast-check'
import { testContext } from '../../test/support/context.ts'
import { memoryStorage } from '../../test/support/storage/memorystorage.ts'
import { ask, bodyOf, jsonOf, widget, widgets } from '../../test/support/widgets.ts'
import type { Item, ItemEvent } from '../contract/item.ts'
import type { ItemList, Selection } from '../contract/storage.ts'
import type { KubeObject } from '../meta/object.ts'
import { andLabels, formatLabelSelector, labelEquals } from '../selectors/selectors.ts'
import type { Lens } from './lens.ts'
import { code, hidden, kind, merge, namesIn, scene, visible } from './testing/scene.ts'
import { viewOf } from './view.ts'

const isRed = (object: KubeObject): boolean => (object.spec as { color?: string }).color === 'red'

const hasApp = ({ labels }: { labels: Readonly<Record<string, string>> }): boolean => labels.app === 'x'

const appLabel = <Q extends Selection>(query: Q): Q => ({
  ...query,
  labels: andLabels(query.labels, labelEquals('app', 'x')),
})

/** Lenses that show the objects with label app=x and spec.color red, each in its way. */
const filtering: Readonly<Record<string, Lens>> = {
  narrow: { narrow: appLabel },
  matches: { matches: hasApp },
  matchesObject: { matchesObject: isRed },
  'all of them': { narrow: appLabel, matches: hasApp, matchesObject: isRed },
}

describe('a filter', () => {
  for (const [name, lens] of Object.entries(filtering)) {
    describe(`by ${name}`, () => {
      it('holds for get, update, patch and delete', async () => {
        const { all, seen } = await scene(lens)
        for (const [verb, extra] of [
          ['get', {}],
          ['update', { body: visible('b') }],
          ['patch', { body: {}, headers: merge }],
          ['delete', {}],
        ] as const) {
          assert.equal(
            await code(ask(seen, { verb, name: 'b', ...extra })),
            404,
            `${verb} of a hidden object`,
          )
          const own = verb === 'update' ? { body: visible('a') } : extra
          assert.equal(await code(ask(seen, { verb, name: 'a', ...own })), 200, `${verb} of a visible object`)
        }
        assert.deepEqual(await namesIn(all), ['b'])
      })

      it('holds for list and deletecollection', async () => {
        const { all, seen } = await scene(lens)
        assert.deepEqual(await namesIn(seen), ['a'])
        await ask(seen, { verb: 'deletecollection' })
        assert.deepEqual(await namesIn(all), ['b'])
      })

      it('turns crossing it into ADDED and DELETED', async () => {
        const { all, seen } = await scene(lens)
        const ending = new AbortController()
        const ctx = testContext({ signal: ending.signal })
        const query = { cluster: 'one', initialEvents: true, bookmarks: true }
        const watch = seen.storage.watch(ctx, query)
        const put = (body: KubeObject): Promise<unknown> =>
          ask(all, { verb: 'update', name: body.metadata.name ?? '', body })
        const steps: readonly [object: KubeObject, type: string | undefined][] = [
          [visible('b'), 'ADDED'],
          [{ ...visible('b'), status: { n: 1 } }, 'MODIFIED'],
          [{ ...hidden('b'), status: { n: 2 } }, 'DELETED'],
          [{ ...hidden('b'), status: { n: 3 } }, undefined],
          [visible('b'), 'ADDED'],
        ]
        const events: ItemEvent[] = []
        while (events.length < 2) events.push(...((await watch.next()).value ?? []))
        assert.deepEqual(
          events.map(event => event.type),
          ['ADDED', 'BOOKMARK'],
        )
        for (const [object, type] of steps) {
          await put(object)
          if (type === undefined) continue
          const [event] = (await watch.next()).value ?? []
          assert.equal(event?.type, type)
          if (type !== 'DELETED') continue
          assert.deepEqual(event?.item.object.status, { n: 1 }, 'the last visible state')
          const [newest] = await collect(
            all.storage.list(ctx, { cluster: 'one', fields: { requirements: [] } }),
            'b',
          )
          assert.equal(event?.item.meta.resourceVersion, newest?.meta.resourceVersion)
          assert.equal(event?.item.object.metadata.resourceVersion, newest?.meta.resourceVersion)
        }
        await ask(all, { verb: 'delete', name: 'b' })
        assert.equal((await watch.next()).value?.[0]?.type, 'DELETED')
        ending.abort()
      })

      it('hides events of hidden objects', async () => {
        const { all, seen } = await scene(lens)
        const ending = new AbortController()
        const ctx = testContext({ signal: ending.signal })
        const { resourceVersion } = (await jsonOf(ask(all, { verb: 'list' }))).metadata as {
          resourceVersion: string
        }
        const query = { cluster: 'one', initialEvents: false, bookmarks: false, resourceVersion }
        const watch = seen.storage.watch(ctx, query)
        await ask(all, { verb: 'delete', name: 'b' })
        await ask(all, { verb: 'delete', name: 'a' })
        const [event] = (await watch.next()).value ?? []
        assert.deepEqual([event?.type, event?.item.key.name], ['DELETED', 'a'])
        ending.abort()
      })
    })
  }

  it('drops a count that would lie', async () => {
    const { all } = await scene({})
    for (const name of ['c', 'd']) await ask(all, { verb: 'create', body: visible(name) })
    const meta = async (lens: Lens): Promise<unknown> => {
      const list = await jsonOf(
        ask({ ...all, storage: viewOf(all.storage, () => lens) }, { verb: 'list', query: 'limit=1' }),
      )
      return Object.keys(list.metadata as object).sort()
    }
    assert.deepEqual(await meta({ matches: () => true }), ['continue', 'resourceVersion'])
    assert.deepEqual(await meta({ relabel: m => m }), ['continue', 'remainingItemCount', 'resourceVersion'])
  })
})

async function collect(list: ItemList, name: string): Promise<readonly Item[]> {
  const items: Item[] = []
  for await (const batch of list) items.push(...batch)
  return items.filter(item => item.key.name === name)
}

describe('the selectors of a view', () => {
  it('are separate from those of clients, also through another view', async () => {
    const asked: Selection[] = []
    const storage = {
      ...memoryStorage(kind),
      async *list(_: unknown, query: Selection): ItemList {
        asked.push(query)
        yield []
        return { resourceVersion: '1' }
      },
    }
    const inner = viewOf(storage, () => ({ narrow: appLabel }))
    const outer = viewOf(inner, () => ({
      narrow: query => ({ ...query, labels: andLabels(query.labels, labelEquals('team', 'y')) }),
    }))
    const labels = labelEquals('color', 'red')
    await outer.list(testContext(), { cluster: 'one', labels }).next()
    const [{ labels: all, view } = {}] = asked as Partial<Selection>[]
    assert.equal(formatLabelSelector(all ?? labels), 'color=red,team=y,app=x')
    assert.equal(formatLabelSelector(view ?? labels), 'team=y,app=x')
  })
})

describe('a view of any history', () => {
  it('sends the objects of a list to watchers', async () => {
    const change = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      app: fc.constantFrom('x', 'y'),
      color: fc.constantFrom('red', 'blue'),
      gone: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.values(filtering)),
        fc.array(change, { maxLength: 12 }),
        async (lens, changes) => {
          const storage = memoryStorage(kind)
          const all = widgets(storage, { unconditionalUpdate: true, createOnUpdate: true })
          const seen = viewOf(storage, () => lens)
          const ending = new AbortController()
          const ctx = testContext({ signal: ending.signal })
          const watch = seen.watch(ctx, { cluster: 'one', initialEvents: true, bookmarks: false })
          const told = follow(watch)
          for (const { name, app, color, gone } of changes) {
            const body = widget(name, { color }, { labels: { app } })
            if (gone) await code(ask(all, { verb: 'delete', name }))
            else await ask(all, { verb: 'update', name, body })
          }
          const last = await ask(all, { verb: 'update', name: 'last', body: visible('last') })
          assert.ok(await bodyOf(last))
          const followed = await told.until('last')
          ending.abort()
          const shown = await jsonOf(ask({ ...all, storage: seen }, { verb: 'list' }))
          const expected = (shown.items as KubeObject[]).map(item => [item.metadata.name, item])
          assert.deepEqual([...followed].sort(), expected)
        },
      ),
      { numRuns: 60 },
    )
  })
})

/** The objects that an informer would hold after a watch. */
function follow(watch: AsyncGenerator<readonly ItemEvent[], void>) {
  const held = new Map<string, KubeObject>()
  return {
    async until(name: string): Promise<ReadonlyMap<string, KubeObject>> {
      while (!held.has(name)) {
        const next = await watch.next()
        for (const { type, item } of next.value ?? []) {
          if (type === 'ADDED') assert.ok(!held.has(item.key.name), 'ADDED of what is there')
          else assert.ok(held.has(item.key.name), `${type} of what is not there`)
          if (type === 'DELETED') held.delete(item.key.name)
          else held.set(item.key.name, item.object)
        }
      }
      return held
    },
  }
}
