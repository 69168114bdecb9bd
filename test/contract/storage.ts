import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import { promised } from '../../framework/awaitable.ts'
import { StatusError } from '../../framework/errors.ts'
import { clusterAnnotation, type Item, type ItemEvent, initialEventsEnd } from '../../framework/item.ts'
import type { ClusterScope, KubeObject, ObjectKey } from '../../framework/object.ts'
import { fieldEquals, labelEquals } from '../../framework/selectors.ts'
import type { ListMeta, ListQuery, ResourceStorage, WatchQuery } from '../../framework/storage.ts'
import { type TestContext, testContext } from '../support/context.ts'

/** A storage under test. It serves ConfigMaps (core/v1), and holds none. */
export interface StorageSubject {
  readonly storage: ResourceStorage
  /** Two logical clusters that exist and have a namespace `default`. */
  readonly clusters: readonly [string, string]
  /** Forgets the history up to now. */
  compact(): Promise<void>
  close(): Promise<void>
}

export interface ContractOptions {
  /** Tests by name, with the reason why they do not hold. */
  readonly skip?: Readonly<Record<string, string>>
}

const info = { group: '', version: 'v1', resource: 'configmaps', namespace: 'default' }
const write = { dryRun: false, fieldManager: 'test' }
const kept = { dryRun: false }
const noCheck = (): void => undefined

const configMap = (name: string, data: Record<string, string> = {}, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...more },
  data,
})

const revisionOf = (item: Item): bigint => BigInt(item.meta.resourceVersion)

/** Expects a `StatusError` with this code, and returns its message. */
async function refused(code: number, run: Promise<unknown>): Promise<StatusError> {
  const error = await run.then(
    () => assert.fail('was not refused'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof StatusError, String(error))
  assert.equal(error.code, code, error.message)
  return error
}

/** What a test works with: the storage with its ceremony taken away. */
class Bench {
  readonly subject: StorageSubject
  readonly #watches = new AbortController()
  constructor(subject: StorageSubject) {
    this.subject = subject
    setMaxListeners(0, this.#watches.signal)
  }
  get one(): string {
    return this.subject.clusters[0]
  }
  get two(): string {
    return this.subject.clusters[1]
  }
  ctx(cluster: ClusterScope = this.one, signal: AbortSignal = this.#watches.signal): TestContext {
    return testContext({ cluster, info, signal })
  }
  key(name: string, cluster = this.one): ObjectKey {
    return { cluster, namespace: 'default', name }
  }
  create(
    name: string,
    data: Record<string, string> = {},
    more: object = {},
    cluster = this.one,
  ): Promise<Item> {
    const object = configMap(name, data, more)
    return this.subject.storage.create(this.ctx(cluster), this.key(name, cluster), object, write)
  }
  update(name: string, change: (object: KubeObject) => KubeObject): Promise<Item> {
    return this.subject.storage.update(this.ctx(), this.key(name), item => change(item.object), write)
  }
  setData(name: string, data: Record<string, string>): Promise<Item> {
    return this.update(name, object => ({ ...object, data }))
  }
  setMeta(name: string, change: object): Promise<Item> {
    return this.update(name, object => ({ ...object, metadata: { ...object.metadata, ...change } }))
  }
  delete(name: string): Promise<unknown> {
    return this.subject.storage.delete(this.ctx(), this.key(name), noCheck, kept)
  }
  async list(query: Partial<ListQuery> = {}): Promise<{ items: readonly Item[]; meta: ListMeta }> {
    const cluster = query.cluster ?? this.one
    const list = this.subject.storage.list(this.ctx(cluster), { cluster, ...query })
    const items: Item[] = []
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      const batch = [...next.value]
      if (next.value.bytes !== undefined) {
        const joined = batch.map(item => item.bytes.toString()).join(',')
        assert.equal(next.value.bytes.toString(), joined, 'batch bytes are its items, comma-joined')
      }
      items.push(...batch)
    }
    return { items, meta: next.value }
  }
  async names(query: Partial<ListQuery> = {}): Promise<readonly string[]> {
    return (await this.list(query)).items.map(item => item.key.name)
  }
  watch(query: Partial<WatchQuery> = {}, signal?: AbortSignal): Watched {
    const cluster = query.cluster ?? this.one
    const full = { cluster, initialEvents: false, bookmarks: false, ...query }
    return new Watched(this.subject.storage.watch(this.ctx(cluster, signal), full))
  }
  async close(): Promise<void> {
    this.#watches.abort()
    await this.subject.close()
  }
}

/** A watch, event by event. */
class Watched {
  readonly #watch: AsyncGenerator<readonly ItemEvent[], void>
  #pending: ItemEvent[] = []
  constructor(watch: AsyncGenerator<readonly ItemEvent[], void>) {
    this.#watch = watch
  }
  /** The next event; undefined at the end. */
  async next(): Promise<ItemEvent | undefined> {
    while (this.#pending.length === 0) {
      const next = await this.#watch.next()
      if (next.done) return undefined
      this.#pending = [...next.value]
    }
    return this.#pending.shift()
  }
  /** The next events as `TYPE name`. */
  async told(count: number): Promise<readonly string[]> {
    const events: string[] = []
    while (events.length < count) {
      const event = await this.next()
      events.push(event === undefined ? 'end' : `${event.type} ${event.item.key.name}`)
    }
    return events
  }
  async leave(): Promise<void> {
    await this.#watch.return()
  }
}

type Tests = Readonly<Record<string, (bench: Bench) => Promise<void>>>

const reading: Tests = {
  'get gives what create gave': async bench => {
    const created = await bench.create('a', { x: 'ü' }, { labels: { l: '1' }, annotations: { n: '2' } })
    const item = await bench.subject.storage.get(bench.ctx(), bench.key('a'))
    assert.equal(item.bytes.toString(), created.bytes.toString())
    assert.deepEqual(item.key, bench.key('a'))
    assert.deepEqual(item.object.data, { x: 'ü' })
    assert.deepEqual(JSON.parse(item.bytes.toString()), item.object)
    const { uid, resourceVersion, labels, annotations } = item.meta
    assert.equal(uid, item.object.metadata.uid)
    assert.equal(resourceVersion, item.object.metadata.resourceVersion)
    assert.deepEqual(labels, { l: '1' })
    assert.deepEqual(annotations, { n: '2', [clusterAnnotation]: bench.one })
  },
  'what is not there is 404': async bench => {
    const { storage } = bench.subject
    const { message } = await refused(
      404,
      promised(() => storage.get(bench.ctx(), bench.key('a'))),
    )
    assert.equal(message, 'configmaps "a" not found')
    await refused(404, bench.setData('a', {}))
    await refused(404, bench.delete('a'))
  },
  'lists are sorted, and empty ones have a version': async bench => {
    const empty = await bench.list()
    assert.deepEqual(empty.items, [])
    assert.match(empty.meta.resourceVersion, /^[1-9]\d*$/)
    for (const name of ['b', 'a', 'c-1', 'c']) await bench.create(name)
    assert.deepEqual(await bench.names(), ['a', 'b', 'c', 'c-1'])
  },
  'clusters are apart, and `*` is all of them': async bench => {
    await bench.create('a', { in: 'one' })
    await bench.create('a', { in: 'two' }, {}, bench.two)
    assert.deepEqual(await bench.names({ cluster: bench.two }), ['a'])
    const { items } = await bench.list({ cluster: '*' })
    assert.deepEqual(items.map(item => item.key.cluster).sort(), [bench.one, bench.two].sort())
  },
  'selectors choose': async bench => {
    await bench.create('a', {}, { labels: { app: 'x' } })
    await bench.create('b', {}, { labels: { app: 'y' } })
    assert.deepEqual(await bench.names({ labels: labelEquals('app', 'y') }), ['b'])
    assert.deepEqual(await bench.names({ fields: fieldEquals('metadata.name', 'a') }), ['a'])
    assert.deepEqual(await bench.names({ namespace: 'other' }), [])
  },
  'pages are one snapshot': async bench => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await bench.create(name)
    const first = await bench.list({ limit: 2 })
    assert.deepEqual(
      first.items.map(item => item.key.name),
      ['a', 'b'],
    )
    assert.equal(first.meta.remainingItemCount, 3)
    await bench.create('bb')
    await bench.delete('d')
    const second = await bench.list({ limit: 2, continue: first.meta.continue ?? '' })
    assert.deepEqual(
      second.items.map(item => item.key.name),
      ['c', 'd'],
    )
    assert.equal(second.meta.resourceVersion, first.meta.resourceVersion)
    const third = await bench.list({ limit: 2, continue: second.meta.continue ?? '' })
    assert.deepEqual(
      third.items.map(item => item.key.name),
      ['e'],
    )
    assert.equal(third.meta.continue ?? '', '')
    assert.equal(third.meta.remainingItemCount, undefined)
  },
  'a limited list with selectors does not count what remains': async bench => {
    for (const name of ['a', 'b']) await bench.create(name, {}, { labels: { app: 'x' } })
    const { meta } = await bench.list({ limit: 1, labels: labelEquals('app', 'x') })
    assert.notEqual(meta.continue ?? '', '')
    assert.equal(meta.remainingItemCount, undefined)
  },
  'an exact version is that state': async bench => {
    const { meta } = await bench.create('a')
    await bench.create('b')
    const exact = { resourceVersion: meta.resourceVersion, match: 'Exact' } as const
    assert.deepEqual(await bench.names(exact), ['a'])
    assert.deepEqual(await bench.names({ resourceVersion: meta.resourceVersion, match: 'NotOlderThan' }), [
      'a',
      'b',
    ])
  },
  'a token of a forgotten state is 410 with a fresh one': async bench => {
    for (const name of ['a', 'b', 'c']) await bench.create(name)
    const { meta } = await bench.list({ limit: 1 })
    await bench.create('d')
    await bench.subject.compact()
    const error = await refused(410, bench.list({ limit: 1, continue: meta.continue ?? '' }))
    const fresh = error.status.metadata.continue
    assert.ok(fresh)
    assert.deepEqual(await bench.names({ continue: fresh }), ['b', 'c', 'd'])
  },
  'a token that is none is 400': async bench => {
    const { message } = await refused(400, bench.list({ limit: 1, continue: 'bogus' }))
    assert.match(message, /^invalid continue token: continue key is not valid: /)
  },
}

const writing: Tests = {
  'create stamps metadata': async bench => {
    const { object } = await bench.create('a')
    const { uid, creationTimestamp, resourceVersion } = object.metadata
    assert.match(uid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.match(creationTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.match(resourceVersion ?? '', /^[1-9]\d*$/)
  },
  'the same name twice is 409': async bench => {
    await bench.create('a')
    const error = await refused(409, bench.create('a'))
    assert.equal(error.reason, 'AlreadyExists')
    assert.equal(error.message, 'configmaps "a" already exists')
  },
  'create refuses a version and the absence of a name': async bench => {
    const error = await bench.create('a', {}, { resourceVersion: '5' }).then(
      () => assert.fail(),
      (error: unknown) => error,
    )
    assert.ok(error instanceof StatusError)
    assert.match(error.message, /resourceVersion should not be set on objects to be created/)
    const nameless = { ...configMap('x'), metadata: { namespace: 'default' } }
    await refused(422, bench.subject.storage.create(bench.ctx(), bench.key(''), nameless, write))
  },
  'generateName makes a name': async bench => {
    const object = { ...configMap('x'), metadata: { namespace: 'default', generateName: 'w-' } }
    const item = await bench.subject.storage.create(bench.ctx(), bench.key(''), object, write)
    assert.match(item.key.name, /^w-.{5}$/)
    assert.deepEqual(await bench.names(), [item.key.name])
  },
  'versions grow with every change': async bench => {
    const a = await bench.create('a')
    const b = await bench.create('b', {}, {}, bench.two)
    const changed = await bench.setData('a', { x: '1' })
    assert.ok(revisionOf(a) < revisionOf(b) && revisionOf(b) < revisionOf(changed))
    assert.equal(changed.object.metadata.uid, a.object.metadata.uid)
  },
  'nothing changed is nothing written': async bench => {
    const item = await bench.create('a', { x: '1' })
    const same = await bench.setData('a', { x: '1' })
    assert.equal(same.meta.resourceVersion, item.meta.resourceVersion)
  },
  'a stale version is 409, none is last write wins': async bench => {
    const { resourceVersion } = (await bench.create('a')).meta
    await bench.setData('a', { x: '1' })
    const error = await refused(409, bench.setMeta('a', { resourceVersion }))
    assert.equal(
      error.message,
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    )
    const item = await bench.update('a', () => configMap('a', { x: '2' }))
    assert.deepEqual(item.object.data, { x: '2' })
  },
  'another uid is 409': async bench => {
    await bench.create('a')
    const error = await refused(409, bench.setMeta('a', { uid: 'other' }))
    assert.match(error.message, /Precondition failed: UID in precondition: other, UID in object meta: /)
  },
  'racing changes are all applied': async bench => {
    await bench.create('a')
    const add = (key: string): Promise<Item> =>
      bench.update('a', ({ metadata, ...object }) => {
        const { resourceVersion: _, ...rest } = metadata
        return {
          ...object,
          metadata: rest,
          data: { ...(object.data as object), [key]: '1' },
        } as KubeObject
      })
    await Promise.all(Array.from({ length: 20 }, (_, i) => add(`k${i}`)))
    const { object } = await bench.subject.storage.get(bench.ctx(), bench.key('a'))
    assert.equal(Object.keys(object.data as object).length, 20)
  },
  'a change that refuses leaves everything as it was': async bench => {
    const item = await bench.create('a')
    const change = (): never => {
      throw new StatusError(403, 'Forbidden', 'no')
    }
    await refused(403, bench.subject.storage.update(bench.ctx(), bench.key('a'), change, write))
    assert.equal((await bench.list()).items[0]?.meta.resourceVersion, item.meta.resourceVersion)
  },
  'dry runs change nothing': async bench => {
    const { storage } = bench.subject
    const dry = { ...write, dryRun: true }
    const created = await storage.create(bench.ctx(), bench.key('a'), configMap('a'), dry)
    assert.ok(created.object.metadata.uid)
    assert.equal(created.object.metadata.resourceVersion, undefined)
    assert.deepEqual(await bench.names(), [])
    const real = await bench.create('a')
    await refused(409, storage.create(bench.ctx(), bench.key('a'), configMap('a'), dry))
    const change = ({ object }: Item): KubeObject => ({ ...object, data: { x: '1' } })
    const changed = await storage.update(bench.ctx(), bench.key('a'), change, dry)
    assert.deepEqual(changed.object.data, { x: '1' })
    assert.equal(changed.meta.resourceVersion, real.meta.resourceVersion)
    await storage.delete(bench.ctx(), bench.key('a'), noCheck, { dryRun: true })
    const [item] = (await bench.list()).items
    assert.equal(item?.meta.resourceVersion, real.meta.resourceVersion)
  },
}

const deleting: Tests = {
  'delete removes at a new version': async bench => {
    const created = await bench.create('a')
    const { item, removed } = await bench.subject.storage.delete(bench.ctx(), bench.key('a'), noCheck, kept)
    assert.equal(removed, true)
    assert.equal(item.meta.uid, created.meta.uid)
    assert.deepEqual(await bench.names(), [])
  },
  'a check that refuses keeps the object': async bench => {
    await bench.create('a')
    const check = (item: Item): never => {
      assert.equal(item.key.name, 'a')
      throw new StatusError(403, 'Forbidden', 'no')
    }
    const preconditions = { ...kept, uid: 'other' }
    await refused(403, bench.subject.storage.delete(bench.ctx(), bench.key('a'), check, preconditions))
    assert.deepEqual(await bench.names(), ['a'])
  },
  'preconditions are 409': async bench => {
    const { meta } = await bench.create('a')
    const attempt = (options: object): Promise<unknown> =>
      bench.subject.storage.delete(bench.ctx(), bench.key('a'), noCheck, { ...kept, ...options })
    const error = await refused(409, attempt({ uid: 'other' }))
    assert.equal(error.status.details?.kind, 'ConfigMap')
    assert.equal(
      error.message,
      `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${meta.uid}). The object might have been deleted and then recreated`,
    )
    await refused(409, attempt({ resourceVersion: '1' }))
    await attempt({ uid: meta.uid, resourceVersion: meta.resourceVersion })
    assert.deepEqual(await bench.names(), [])
  },
  'finalizers hold an object until the last one goes': async bench => {
    await bench.create('a', {}, { finalizers: ['example.com/f'] })
    const watch = bench.watch({ resourceVersion: (await bench.list()).meta.resourceVersion })
    const { item, removed } = await bench.subject.storage.delete(bench.ctx(), bench.key('a'), noCheck, kept)
    assert.equal(removed, false)
    assert.ok(item.object.metadata.deletionTimestamp)
    assert.equal(item.object.metadata.deletionGracePeriodSeconds, 0)
    const again = await bench.subject.storage.delete(bench.ctx(), bench.key('a'), noCheck, kept)
    assert.equal(again.item.meta.resourceVersion, item.meta.resourceVersion)
    await bench.setMeta('a', { finalizers: [] })
    assert.deepEqual(await bench.names(), [])
    assert.deepEqual(await watch.told(2), ['MODIFIED a', 'DELETED a'])
  },
}

const watching: Tests = {
  'a watch from a list tells every change once, in order': async bench => {
    await bench.create('old')
    const { meta } = await bench.list()
    const watch = bench.watch({ resourceVersion: meta.resourceVersion })
    const created = await bench.create('a', { x: '1' })
    await bench.create('elsewhere', {}, {}, bench.two)
    const changed = await bench.setData('a', { x: '2' })
    await bench.delete('a')
    const [added, modified, deleted] = [await watch.next(), await watch.next(), await watch.next()]
    assert.deepEqual([added?.type, modified?.type, deleted?.type], ['ADDED', 'MODIFIED', 'DELETED'])
    assert.equal(added?.item.bytes.toString(), created.bytes.toString())
    assert.equal(added?.previous, undefined)
    assert.equal(modified?.item.bytes.toString(), changed.bytes.toString())
    assert.deepEqual(deleted?.item.object.data, { x: '2' })
    assert.ok(deleted && revisionOf(deleted.item) > revisionOf(changed))
    assert.equal(deleted.item.object.metadata.resourceVersion, deleted.item.meta.resourceVersion)
  },
  'a change knows the state before it': async bench => {
    const created = await bench.create('a', { x: '1' })
    const watch = bench.watch({ resourceVersion: created.meta.resourceVersion })
    await bench.setData('a', { x: '2' })
    assert.equal((await watch.next())?.previous?.bytes.toString(), created.bytes.toString())
  },
  'a watch resumes without a gap or a repeat': async bench => {
    const { meta } = await bench.create('a')
    await bench.create('b')
    await bench.delete('a')
    const watch = bench.watch({ resourceVersion: meta.resourceVersion })
    assert.deepEqual(await watch.told(2), ['ADDED b', 'DELETED a'])
  },
  'initial events come first, and their end is told': async bench => {
    for (const name of ['b', 'a']) await bench.create(name)
    const watch = bench.watch({ initialEvents: true, bookmarks: true })
    assert.deepEqual(await watch.told(2), ['ADDED a', 'ADDED b'])
    const end = await watch.next()
    assert.equal(end?.type, 'BOOKMARK')
    assert.equal(end?.item.object.metadata.annotations?.[initialEventsEnd], 'true')
    assert.deepEqual(Object.keys(end?.item.object ?? {}).sort(), ['apiVersion', 'kind', 'metadata'])
    const created = await bench.create('c')
    assert.ok(end && revisionOf(end.item) < revisionOf(created))
    assert.deepEqual(await watch.told(1), ['ADDED c'])
  },
  'the end of no initial events is told at once': async bench => {
    const watch = bench.watch({ initialEvents: true, bookmarks: true })
    assert.equal((await watch.next())?.type, 'BOOKMARK')
  },
  'without bookmarks there are none': async bench => {
    await bench.create('a')
    const watch = bench.watch({ initialEvents: true })
    assert.deepEqual(await watch.told(1), ['ADDED a'])
    await bench.create('b')
    assert.deepEqual(await watch.told(1), ['ADDED b'])
  },
  'labels that come and go are ADDED and DELETED': async bench => {
    const { meta } = await bench.create('a', { x: '1' })
    const watch = bench.watch({ resourceVersion: meta.resourceVersion, labels: labelEquals('app', 'x') })
    await bench.setMeta('a', { labels: { app: 'x' } })
    await bench.setData('a', { x: '2' })
    const gone = await bench.update('a', object => ({
      ...object,
      metadata: { ...object.metadata, labels: {} },
      data: { x: 'hidden' },
    }))
    await bench.create('b', {}, { labels: { app: 'x' } })
    assert.deepEqual(await watch.told(2), ['ADDED a', 'MODIFIED a'])
    const deleted = await watch.next()
    assert.equal(deleted?.type, 'DELETED')
    assert.deepEqual(deleted?.item.object.data, { x: '2' })
    assert.deepEqual(deleted?.item.object.metadata.labels, { app: 'x' })
    assert.equal(deleted?.item.meta.resourceVersion, gone.meta.resourceVersion)
    assert.equal(deleted?.item.object.metadata.resourceVersion, gone.meta.resourceVersion)
    assert.deepEqual(await watch.told(1), ['ADDED b'])
  },
  'a watch of one name sees only it': async bench => {
    const { meta } = await bench.list()
    const fields = fieldEquals('metadata.name', 'b')
    const watch = bench.watch({ resourceVersion: meta.resourceVersion, fields })
    for (const name of ['a', 'b', 'c']) await bench.create(name)
    await bench.delete('b')
    assert.deepEqual(await watch.told(2), ['ADDED b', 'DELETED b'])
  },
  'a watch of `*` sees all clusters': async bench => {
    const { meta } = await bench.list({ cluster: '*' })
    const watch = bench.watch({ cluster: '*', resourceVersion: meta.resourceVersion })
    await bench.create('a')
    await bench.create('a', {}, {}, bench.two)
    const clusters = [await watch.next(), await watch.next()].map(event => event?.item.key.cluster)
    assert.deepEqual(clusters, [bench.one, bench.two])
  },
  'a forgotten position is 410': async bench => {
    const { meta } = await bench.create('a')
    await bench.create('b')
    await bench.subject.compact()
    await bench.create('c')
    const error = await refused(410, bench.watch({ resourceVersion: meta.resourceVersion }).next())
    assert.equal(error.reason, 'Expired')
    assert.match(error.message, /^too old resource version: \d+ \(\d+\)$/)
  },
  'an aborted watch ends without an error': async bench => {
    const controller = new AbortController()
    const watch = bench.watch(
      { resourceVersion: (await bench.list()).meta.resourceVersion },
      controller.signal,
    )
    const next = watch.next()
    controller.abort()
    assert.equal(await next, undefined)
  },
  'a watch can be left': async bench => {
    const watch = bench.watch({ initialEvents: true, bookmarks: true })
    await watch.next()
    await watch.leave()
    assert.equal(await watch.next(), undefined)
  },
}

/** Runs the contract of `ResourceStorage` against a storage: what every one of them promises. */
export function storageContract(
  name: string,
  open: () => Promise<StorageSubject>,
  { skip = {} }: ContractOptions = {},
): void {
  describe(`${name} is a ResourceStorage`, () => {
    for (const [test, run] of Object.entries({ ...reading, ...writing, ...deleting, ...watching })) {
      const reason = skip[test]
      if (reason !== undefined) {
        it.skip(`${test} (${reason})`)
        continue
      }
      it(test, async () => {
        const bench = new Bench(await open())
        try {
          await run(bench)
        } finally {
          await bench.close()
        }
      })
    }
  })
}
