import assert from 'node:assert/strict'
import { testContext } from '../../test/support/context.ts'
import type { Informer } from '../contract/informer.ts'
import { type Item, type ItemEvent, itemOf } from '../contract/item.ts'
import type { ResourceStorage } from '../contract/storage.ts'
import { expired } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import { joined } from './joined.ts'

const object = (kind: string, name: string, revision: number, labels = {}): Item => {
  const metadata = {
    name,
    namespace: kind === 'Namespace' ? '' : 'ns',
    resourceVersion: `${revision}`,
    labels,
  }
  return itemOf({ apiVersion: 'v1', kind, metadata } as KubeObject, 'one')
}

/** An informer that gets its events from the test. */
class LateInformer implements Informer {
  readonly synced = Promise.resolve()
  readonly #items = new Map<string, Item>()
  readonly #handlers = new Set<(event: ItemEvent) => void>()

  get(_cluster: string, _namespace: string, name: string): Item | undefined {
    return this.#items.get(name)
  }
  list(): readonly Item[] {
    return [...this.#items.values()]
  }
  index(keysOf: (item: Item) => readonly string[]): (key: string) => readonly Item[] {
    return key => this.list().filter(item => keysOf(item).includes(key))
  }
  onEvent(handler: (event: ItemEvent) => void): () => void {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }
  learn(item: Item): void {
    const previous = this.#items.get(item.key.name)
    this.#items.set(item.key.name, item)
    const event: ItemEvent = { type: previous ? 'MODIFIED' : 'ADDED', item, ...(previous && { previous }) }
    for (const handler of this.#handlers) handler(event)
  }
}

describe('a watch of joined objects', () => {
  it('has MODIFIED for an object that the informer learns after its joined object has changed', async () => {
    const [objects, namespaces] = [new LateInformer(), new LateInformer()]
    const settings = object('ConfigMap', 'settings', 5)
    const ctx = testContext({})
    const storage = {
      get: () => settings,
      async *list() {
        yield [settings]
        return { resourceVersion: '5' }
      },
      async *watch() {
        await new Promise(resolve => ctx.signal.addEventListener('abort', resolve))
      },
    } as unknown as ResourceStorage
    const view = joined(storage, {
      objects,
      joined: namespaces,
      key: ({ key }) => ({ namespace: '', name: key.namespace }),
      annotations: { owner: namespace => namespace?.meta.labels.owner },
    })
    namespaces.learn(object('Namespace', 'ns', 1, { owner: 'ann' }))
    const query = { cluster: 'one', initialEvents: false, bookmarks: false }
    const list = view.list(ctx, query)
    while (!(await list.next()).done);
    const watch = view.watch(ctx, { ...query, resourceVersion: '5' })
    const next = watch.next()
    // The watch has started when the events of a turn are handled.
    await new Promise(resolve => setImmediate(resolve))
    namespaces.learn(object('Namespace', 'ns', 6, { owner: 'bob' }))
    await new Promise(resolve => setImmediate(resolve))
    objects.learn(settings)
    const { value } = await next
    assert.deepEqual(
      (value as readonly ItemEvent[]).map(({ type, item }) => [
        type,
        item.key.name,
        item.meta.annotations.owner,
      ]),
      [['MODIFIED', 'settings', 'bob']],
    )
  })

  it('from a revision that a client has invented does not end the watches of others', async () => {
    const [objects, namespaces] = [new LateInformer(), new LateInformer()]
    let newest = 5
    const storage = {
      async *list() {
        yield []
        return { resourceVersion: `${newest}` }
      },
      async *watch(ctx: { signal: AbortSignal }, { resourceVersion }: { resourceVersion: string }) {
        if (Number(resourceVersion) > newest) throw expired('too new resource version')
        await new Promise(resolve => ctx.signal.addEventListener('abort', resolve))
      },
    } as unknown as ResourceStorage
    const view = joined(storage, {
      objects,
      joined: namespaces,
      key: ({ key }) => ({ namespace: '', name: key.namespace }),
      annotations: { owner: namespace => namespace?.meta.labels.owner },
    })
    const end = new AbortController()
    const watchFrom = (resourceVersion: string) =>
      view
        .watch(testContext({ signal: end.signal }), {
          cluster: 'one',
          initialEvents: false,
          bookmarks: false,
          resourceVersion,
        })
        .next()
    await assert.rejects(watchFrom('18446744073709551615'), { code: 410 })
    while (newest < 1_010) namespaces.learn(object('Namespace', 'ns', ++newest, { owner: `o${newest}` }))
    const next = watchFrom('1010')
    await new Promise(resolve => setImmediate(resolve))
    end.abort()
    assert.deepEqual(await next, { done: true, value: undefined })
  })
})
