import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import type { Item, ItemEvent } from '../../../framework/contract/item.ts'
import type { ListMeta, ListQuery, ResourceStorage, WatchQuery } from '../../../framework/contract/storage.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import type { ClusterScope, KubeObject, ObjectKey } from '../../../framework/meta/object.ts'
import { type TestContext, testContext } from '../../support/context.ts'

/** A storage under test. It serves ConfigMaps (core/v1), and holds none. */
export interface StorageSubject {
  readonly storage: ResourceStorage
  /** Two logical clusters that exist and have a namespace `default`. */
  readonly clusters: readonly [string, string]
  /** Compacts the history up to now. */
  compact(): Promise<void>
  close(): Promise<void>
}

const info = { group: '', version: 'v1', resource: 'configmaps', namespace: 'default' }
export const write = { dryRun: false, fieldManager: 'test' }
export const kept = { dryRun: false }
export const noCheck = (): void => undefined

export const configMap = (
  name: string,
  data: Record<string, string> = {},
  more: object = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...more },
  data,
})

export const revisionOf = (item: Item): bigint => BigInt(item.meta.resourceVersion)

/** Expects a `StatusError` with this code, and returns its message. */
export async function refused(code: number, run: Promise<unknown>): Promise<StatusError> {
  const error = await run.then(
    () => assert.fail('was not refused'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof StatusError, String(error))
  assert.equal(error.code, code, error.message)
  return error
}

/** Helpers of a test, around the storage. */
export class Bench {
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

/** Tests by name. */
export type Tests = Readonly<Record<string, (bench: Bench) => Promise<void>>>
