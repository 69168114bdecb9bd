import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { ItemWatch, ListQuery, WatchQuery } from '../../framework/contract/storage.ts'
import { parseLabelSelector } from '../../framework/selectors/parse.ts'
import { openMemoryStore } from '../store/memory.ts'
import type { Store } from '../store/store.ts'
import { configMap, type Fixture, forever, listed, open, told } from './testing/fixture.ts'
import { Model } from './testing/model.ts'

type Scope = Pick<WatchQuery, 'cluster' | 'namespace' | 'labels'>

/** A client that always waits for events, but may fetch them slowly. */
interface Informer {
  readonly scope: Scope
  watch: ItemWatch
  next: ReturnType<ItemWatch['next']>
  /** Everything up to this revision has been read. */
  position: number
}

interface System {
  readonly store: Store
  fixture: Fixture
  readonly informers: Informer[]
}

type Command = fc.AsyncCommand<Model, System>

const ring = { events: 25 }

const clusters = fc.constantFrom('a', 'a-b', 'b')
const namespaces = fc.constantFrom('', 'n', 'n-1')
const ids = fc
  .tuple(clusters, namespaces, fc.integer({ min: 0, max: 12 }))
  .map(([cluster, namespace, n]) => `${cluster}/${namespace}/x${n}`)
const labels = fc.constantFrom({}, { on: '1' }, { on: '2' }, { on: '1', off: '' })
const selector = fc.constantFrom(undefined, 'on', 'on=1', '!on', 'on notin (1)', 'off')
const scopes: fc.Arbitrary<Scope> = fc
  .tuple(fc.oneof(fc.constant('*'), clusters), namespaces, selector)
  .map(([cluster, namespace, text]) => ({
    cluster,
    namespace,
    ...(text === undefined ? {} : { labels: parseLabelSelector(text) }),
  }))

const always = { check: () => true }

const write = (id: string, value: number, labels: Record<string, string>): Command => ({
  ...always,
  async run(model, { fixture }) {
    model.write(id, { value: String(value), labels })
    assert.equal(await fixture.write(id, String(value), labels), model.revision)
  },
  toString: () => `write(${id}, ${value}, ${JSON.stringify(labels)})`,
})

const remove = (id: string): Command => ({
  check: model => model.has(id),
  async run(model, { fixture }) {
    model.write(id, undefined)
    assert.equal(await fixture.write(id, undefined), model.revision)
  },
  toString: () => `remove(${id})`,
})

const listNow = (scope: Scope): Command => ({
  ...always,
  async run(model, { fixture }) {
    const { items, meta } = await listed(fixture.maps.list(configMap, forever, scope))
    assert.deepEqual(items, model.list(scope))
    assert.equal(meta.resourceVersion, String(model.revision))
    if (scope.cluster !== '*' && !scope.namespace && !scope.labels)
      assert.equal(fixture.maps.count(scope.cluster), items.length)
  },
  toString: () => `list(${JSON.stringify(scope)})`,
})

const listThen = (scope: Scope, back: number): Command => ({
  check: model => model.revision > back,
  async run(model, { fixture }) {
    const revision = model.revision - back
    const query: ListQuery = { ...scope, resourceVersion: String(revision), match: 'Exact' }
    const list = listed(fixture.maps.list(configMap, forever, query))
    if (revision < fixture.maps.ring.floor) await assert.rejects(list, { code: 410 })
    else assert.deepEqual((await list).items, model.list(scope, revision))
  },
  toString: () => `listThen(${JSON.stringify(scope)}, -${back})`,
})

const page = (scope: Scope, limit: number, between: readonly [string, number][]): Command => ({
  ...always,
  async run(model, { fixture }) {
    const [expected, revision] = [model.list(scope), model.revision]
    const found: string[] = []
    for (let query: ListQuery | undefined = { ...scope, limit }; query !== undefined; ) {
      const list = listed(fixture.maps.list(configMap, forever, query))
      if (revision < fixture.maps.ring.floor) return assert.rejects(list, { code: 410 })
      const { items, meta } = await list
      assert.ok(items.length <= limit)
      found.push(...items)
      query = meta.continue === undefined ? undefined : { ...query, continue: meta.continue }
      const [id, value] = between[found.length % between.length] ?? ['a/n/x', 0]
      model.write(id, { value: String(value), labels: { on: '1' } })
      await fixture.write(id, String(value), { on: '1' })
    }
    assert.deepEqual(found, expected)
  },
  toString: () => `page(${JSON.stringify(scope)}, ${limit}, ${JSON.stringify(between)})`,
})

function start(fixture: Fixture, scope: Scope, position: number): Informer {
  const query = { ...scope, resourceVersion: String(position), initialEvents: false, bookmarks: false }
  const watch = fixture.maps.watch(configMap, forever, query)
  const next = watch.next()
  next.catch(() => undefined)
  return { scope, watch, next, position }
}

/** A watch from the past: expired exactly when the ring does not reach back. */
const inform = (scope: Scope, back: number): Command => ({
  check: model => model.revision > back,
  async run(model, { fixture, informers }) {
    const informer = start(fixture, scope, model.revision - back)
    if (informer.position < fixture.maps.ring.floor) await assert.rejects(informer.next, { code: 410 })
    else informers.push(informer)
  },
  toString: () => `inform(${JSON.stringify(scope)}, -${back})`,
})

/** Yields so many turns that all pending work is done. */
async function silence(): Promise<undefined> {
  for (let turn = 0; turn < 100; turn++) await setImmediate()
  return undefined
}

async function fetch(informer: Informer, count: number): Promise<string[]> {
  const found: string[] = []
  while (found.length < count) {
    const next = await Promise.race([informer.next, silence()])
    if (next === undefined || next.done === true) break
    found.push(...next.value.map(told))
    informer.next = informer.watch.next()
    informer.next.catch(() => undefined)
  }
  return found
}

/** Reads the events of an informer; one that was too slow lists again. */
async function drain(model: Model, fixture: Fixture, informer: Informer): Promise<void> {
  const expected = model.events(informer.scope, informer.position)
  try {
    assert.deepEqual(await fetch(informer, expected.length), expected)
    informer.position = model.revision
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 410)) throw error
    assert.ok(fixture.maps.ring.floor > informer.position)
    Object.assign(informer, start(fixture, informer.scope, model.revision))
  }
}

const read = (which: number): Command => ({
  ...always,
  async run(model, { fixture, informers }) {
    const informer = informers[which % informers.length]
    if (informer !== undefined) await drain(model, fixture, informer)
  },
  toString: () => `read(${which})`,
})

/** Another process over the same store; informers go on where they were. */
const restart = (forget: number): Command => ({
  ...always,
  async run(model, system) {
    for (const informer of system.informers) await drain(model, system.fixture, informer)
    system.fixture.cache.close()
    await system.store.compact(model.revision - forget)
    system.fixture = await open({ ring }, system.store)
    for (const informer of system.informers)
      Object.assign(informer, start(system.fixture, informer.scope, informer.position))
  },
  toString: () => `restart(${forget})`,
})

const numbers = fc.integer({ min: 0, max: 99 })
const commands: fc.Arbitrary<Command>[] = [
  fc.tuple(ids, numbers, labels).map(([id, value, own]) => write(id, value, own)),
  fc.tuple(ids, numbers, labels).map(([id, value, own]) => write(id, value, own)),
  ids.map(remove),
  ids.map(remove),
  scopes.map(listNow),
  fc.tuple(scopes, fc.nat({ max: 30 })).map(([scope, back]) => listThen(scope, back)),
  fc
    .tuple(
      scopes,
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.tuple(ids, numbers), { minLength: 1, maxLength: 4 }),
    )
    .map(([scope, limit, between]) => page(scope, limit, between)),
  fc.tuple(scopes, fc.nat({ max: 30 })).map(([scope, back]) => inform(scope, back)),
  fc.nat({ max: 9 }).map(read),
  fc.nat({ max: 20 }).map(restart),
]

describe('the cache, compared with a naive model', () => {
  it('lists, pages and watches alike, whatever is written', async () => {
    const property = fc.asyncProperty(fc.commands(commands, { maxCommands: 120, size: 'max' }), async run => {
      const store = openMemoryStore()
      const system: System = { store, fixture: await open({ ring }, store), informers: [] }
      const model = new Model()
      try {
        await fc.asyncModelRun(() => ({ model, real: system }), run)
        for (const informer of system.informers) await drain(model, system.fixture, informer)
      } finally {
        await system.fixture.close()
      }
    })
    await fc.assert(property, { numRuns: 60 })
  })
})
