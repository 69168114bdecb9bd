import assert from 'node:assert/strict'
import fc from 'fast-check'
import { testContext } from '../../test/support/context.ts'
import { memoryStorage } from '../../test/support/storage/memorystorage.ts'
import { ask, jsonOf, widget, widgets } from '../../test/support/widgets.ts'
import type { ApiResource } from '../contract/apis.ts'
import type { ItemEvent } from '../contract/item.ts'
import type { ItemWatch, WatchQuery } from '../contract/storage.ts'
import type { KubeObject } from '../meta/object.ts'
import { fieldEquals, labelEquals, matchesLabels } from '../selectors/selectors.ts'
import type { Lens } from './lens.ts'
import { kind, namesIn } from './testing/scene.ts'
import { viewOf } from './view.ts'

const object = (name: string, tier: string, color = 'red'): KubeObject =>
  widget(name, { color }, { labels: { hidden: 'secret', tier } })

/** Hide the label `hidden` and the color, and show the tier in capitals. */
const lenses: Readonly<Record<string, Lens>> = {
  relabel: { relabel: ({ labels }) => ({ labels: { tier: labels.tier?.toUpperCase() ?? '' } }) },
  present: {
    present: ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, labels: { tier: metadata.labels?.tier?.toUpperCase() ?? '' } },
      spec: { color: 'none' },
    }),
  },
}
const accept: NonNullable<Lens['accept']> = written => written

interface Probe {
  readonly all: ApiResource
  readonly seen: ApiResource
}

async function probed(lens: Lens): Promise<Probe> {
  const storage = memoryStorage(kind)
  const all = widgets(storage, { unconditionalUpdate: true })
  for (const [name, tier] of [
    ['a', 'one'],
    ['b', 'two'],
    ['c', 'one'],
  ] as const)
    await ask(all, { verb: 'create', body: object(name, tier) })
  return { all, seen: { ...all, storage: viewOf(storage, () => ({ accept, ...lens })) } }
}

const listed = async ({ seen }: Probe, query: string): Promise<unknown> => {
  const { items } = (await jsonOf(ask(seen, { verb: 'list', query }))) as { items: KubeObject[] }
  return items.map(item => item.metadata.name)
}

const selector = (text: string): string => `labelSelector=${encodeURIComponent(text)}`

/** A watch, read event by event. */
function reading(watch: ItemWatch) {
  const queue: ItemEvent[] = []
  return async (): Promise<string> => {
    while (queue.length === 0) {
      const { value, done } = await watch.next()
      if (done) return 'end'
      queue.push(...value)
    }
    const { type, item } = queue.shift() ?? assert.fail()
    return `${type} ${item.key.name}`
  }
}

for (const [member, lens] of Object.entries(lenses)) {
  describe(`selectors through a lens with ${member}`, () => {
    it('work on the labels that are shown', async () => {
      const probe = await probed(lens)
      for (const [text, names] of [
        ['hidden=secret', []],
        ['hidden', []],
        ['!hidden', ['a', 'b', 'c']],
        ['hidden!=secret', ['a', 'b', 'c']],
        ['tier=one', []],
        ['tier=ONE', ['a', 'c']],
        ['tier in (TWO, x)', ['b']],
      ] as const)
        assert.deepEqual(await listed(probe, selector(text)), names, text)
    })

    it('page', async () => {
      const probe = await probed(lens)
      const names: unknown[] = []
      let token = ''
      let pages = 0
      do {
        const query = `limit=1&${selector('tier=ONE')}${token === '' ? '' : `&continue=${token}`}`
        const { items, metadata } = (await jsonOf(ask(probe.seen, { verb: 'list', query }))) as {
          items: KubeObject[]
          metadata: { continue?: string; remainingItemCount?: number }
        }
        assert.equal(metadata.remainingItemCount, undefined)
        names.push(...items.map(item => item.metadata.name))
        token = metadata.continue ?? ''
        pages++
      } while (token !== '' && pages < 9)
      assert.deepEqual(names, ['a', 'c'])
    })

    it('delete exactly the selected objects', async () => {
      const { all, seen } = await probed(lens)
      for (const [text, left] of [
        ['hidden=secret', ['a', 'b', 'c']],
        ['tier=one', ['a', 'b', 'c']],
        ['tier=ONE', ['b']],
      ] as const) {
        await ask(seen, { verb: 'deletecollection', query: selector(text) })
        assert.deepEqual(await namesIn(all), left, text)
      }
    })

    it('report objects that enter and leave the selection in a watch', async () => {
      const { all, seen } = await probed(lens)
      const ending = new AbortController()
      const watch = (query: Partial<WatchQuery>) =>
        reading(
          seen.storage.watch(testContext({ signal: ending.signal }), {
            cluster: 'one',
            initialEvents: true,
            bookmarks: false,
            ...query,
          }),
        )
      const one = watch({ labels: labelEquals('tier', 'ONE') })
      const secret = watch({ labels: labelEquals('hidden', 'secret') })
      assert.deepEqual([await one(), await one()], ['ADDED a', 'ADDED c'])
      await ask(all, { verb: 'update', name: 'b', body: object('b', 'one') })
      assert.equal(await one(), 'ADDED b')
      await ask(all, { verb: 'update', name: 'b', body: object('b', 'one', 'blue') })
      assert.equal(await one(), 'MODIFIED b')
      await ask(all, { verb: 'update', name: 'b', body: object('b', 'two') })
      assert.equal(await one(), 'DELETED b')
      await ask(all, { verb: 'delete', name: 'b' })
      await ask(all, { verb: 'delete', name: 'a' })
      assert.equal(await one(), 'DELETED a')
      const ended = secret()
      ending.abort()
      assert.equal(await ended, 'end', 'no event of a selector of hidden labels')
    })
  })
}

describe('field selectors through a lens that rewrites', () => {
  const shown: Lens = { present: object => ({ ...object, spec: { color: 'none' } }) }

  it('work on the fields that are shown', async () => {
    const probe = await probed(shown)
    for (const [text, names] of [
      ['spec.color=red', []],
      ['spec.color!=red', ['a', 'b', 'c']],
      ['spec.color=none', ['a', 'b', 'c']],
      ['spec.color=none,metadata.name=b', ['b']],
      ['metadata.name!=b', ['a', 'c']],
    ] as const)
      assert.deepEqual(await listed(probe, `fieldSelector=${encodeURIComponent(text)}`), names, text)
  })

  it('use the fields of the kind', async () => {
    const { all } = await probed({})
    const fields = { 'spec.color': () => 'computed' }
    const view = viewOf(all.storage, () => shown, fields)
    const list = view.list(testContext(), { cluster: 'one', fields: fieldEquals('spec.color', 'computed') })
    assert.equal(Array.from((await list.next()).value as Iterable<unknown>).length, 3)
  })

  it('pass names on, so that one object is read and not all', async () => {
    const { all } = await probed({})
    const asked: unknown[] = []
    const storage = {
      ...all.storage,
      list: (...[ctx, query]: Parameters<typeof all.storage.list>) => {
        asked.push(query)
        return all.storage.list(ctx, query)
      },
    }
    const fields = {
      requirements: [
        ...fieldEquals('metadata.name', 'a').requirements,
        ...fieldEquals('spec.color', 'none').requirements,
      ],
    }
    const labels = labelEquals('tier', 'one')
    await viewOf(storage, () => shown)
      .list(testContext(), { cluster: 'one', fields, labels })
      .next()
    assert.deepEqual(asked, [{ cluster: 'one', fields: fieldEquals('metadata.name', 'a') }])
  })
})

describe('a watch of a storage without previous objects', () => {
  it('sends DELETED for objects that leave the selection', async () => {
    const { all } = await probed({})
    const storage = {
      ...all.storage,
      async *watch(...args: Parameters<typeof all.storage.watch>): ItemWatch {
        for await (const events of all.storage.watch(...args))
          yield events.map(({ type, item }) => ({ type, item }))
      },
    }
    const ending = new AbortController()
    const seen = viewOf(storage, () => lenses.relabel ?? {})
    const next = reading(
      seen.watch(testContext({ signal: ending.signal }), {
        cluster: 'one',
        labels: labelEquals('tier', 'TWO'),
        initialEvents: true,
        bookmarks: false,
      }),
    )
    assert.equal(await next(), 'ADDED b')
    await ask(all, { verb: 'update', name: 'b', body: object('b', 'one') })
    assert.equal(await next(), 'DELETED b')
    ending.abort()
  })
})

describe('narrowed queries', () => {
  it('keep the selectors of the client', async () => {
    const probe = await probed({ narrow: query => ({ ...query, labels: labelEquals('hidden', 'secret') }) })
    assert.deepEqual(await listed(probe, selector('tier=two')), ['b'])
  })

  it('is a namespace, also for clients that ask for another', async () => {
    const { all } = await probed({})
    const seen = viewOf(all.storage, () => ({ narrow: query => ({ ...query, namespace: 'ns1' }) }))
    const count = async (namespace: string): Promise<number> => {
      const { value } = await seen.list(testContext(), { cluster: 'one', namespace }).next()
      return Array.from(value as Iterable<unknown>).length
    }
    assert.deepEqual([await count('ns1'), await count('ns2'), await count('')], [3, 0, 3])
  })
})

describe('a selection through any lens that rewrites', () => {
  it('select from the list without selectors', async () => {
    const tier = fc.constantFrom('one', 'two', 'ONE')
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.values(lenses)),
        fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), tier }), { maxLength: 8 }),
        tier,
        async (lens, changes, wanted) => {
          const { all, seen } = await probed(lens)
          const create = widgets(all.storage, { unconditionalUpdate: true, createOnUpdate: true })
          for (const { name, tier } of changes)
            await ask(create, { verb: 'update', name, body: object(name, tier) })
          const { items } = (await jsonOf(ask(seen, { verb: 'list' }))) as { items: KubeObject[] }
          const labels = labelEquals('tier', wanted)
          const expected = items.filter(item => matchesLabels(labels, item.metadata.labels ?? {}))
          const chosen = await listed({ all, seen }, selector(`tier=${wanted}`))
          assert.deepEqual(
            chosen,
            expected.map(item => item.metadata.name),
          )
        },
      ),
      { numRuns: 40 },
    )
  })
})
