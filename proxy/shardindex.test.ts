import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import { aborted } from '../framework/async/awaitable.ts'
import type { RequestContext } from '../framework/contract/context.ts'
import { type Item, type ItemEvent, itemOf, originAnnotation } from '../framework/contract/item.ts'
import { silent } from '../framework/contract/log.ts'
import type { PeerClient } from '../framework/contract/peer.ts'
import { leavingAnnotation, movedAnnotation } from '../kcp/annotations.ts'
import { followShards, type ShardIndex } from './shardindex.ts'

type Annotations = Readonly<Record<string, string>>

let revision = 1
const itemIn = (cluster: string, name: string, annotations: Annotations, more: object = {}): Item =>
  itemOf(
    {
      apiVersion: 'v1',
      kind: 'Any',
      ...more,
      metadata: { name, uid: `${cluster}/${name}`, resourceVersion: String(++revision), annotations },
    },
    cluster,
  )

/** Answers lists with items, and watches with the events that are sent. */
class FakeShard {
  readonly #items: Readonly<Record<string, readonly Item[]>>
  readonly #queue: ItemEvent[] = []
  #wake: () => void = () => undefined

  constructor(items: Readonly<Record<string, readonly Item[]>> = {}) {
    this.#items = items
  }

  /** Sends an event of the LogicalCluster of a logical cluster. */
  home(cluster: string, annotations: Annotations, type: ItemEvent['type'] = 'MODIFIED'): void {
    this.#queue.push({ type, item: itemIn(cluster, 'cluster', annotations) })
    this.#wake()
  }

  readonly client = {
    get: async () => ({ status: { identityHash: 'i' } }),
    close: async () => undefined,
    storage: ({ resource }: { readonly resource: string }) => {
      const items = this.#items[resource] ?? []
      const events = (signal: AbortSignal) => this.#events(resource, signal)
      return {
        async *list() {
          if (items.length > 0) yield items
          return { resourceVersion: '1' }
        },
        watch: ({ signal }: RequestContext) => events(signal),
      }
    },
  } as unknown as PeerClient

  async *#events(resource: string, signal: AbortSignal): AsyncGenerator<readonly ItemEvent[]> {
    while (resource === 'logicalclusters' && !signal.aborted) {
      const events = this.#queue.splice(0)
      if (events.length > 0) yield events
      else
        await Promise.race([
          aborted(signal),
          new Promise<void>(resolve => {
            this.#wake = resolve
          }),
        ])
    }
    await aborted(signal)
  }
}

describe('the shard of a logical cluster that two shards have', () => {
  const stop = new AbortController()
  const shards: Record<string, FakeShard> = { alpha: new FakeShard(), beta: new FakeShard() }
  let index: ShardIndex
  before(async () => {
    setMaxListeners(0, stop.signal)
    const objects = Object.keys(shards).map(name =>
      itemIn('root', name, {}, { spec: { baseURL: `https://${name}` } }),
    )
    index = await followShards({
      root: new FakeShard({ shards: objects }).client,
      connect: ({ name }) => (shards[name] as FakeShard).client,
      externalUrl: 'https://proxy',
      log: silent,
      signal: stop.signal,
    })
  })
  after(() => stop.abort())

  const isOn = async (cluster: string, name: string): Promise<void> => {
    while (index.shardOf(cluster)?.name !== name) await new Promise(setImmediate)
  }
  const moved = (times: number): Annotations => ({ [movedAnnotation]: `9,8,${times}` })

  it('is the one to which it has moved, also while the other one seems to have it still', async () => {
    shards.alpha?.home('away', {})
    await isOn('away', 'alpha')
    shards.beta?.home('away', moved(1))
    await isOn('away', 'beta')
    shards.alpha?.home('away', moved(2))
    await isOn('away', 'alpha')
  })

  it('is not one that was restored from a backup of before the move', async () => {
    shards.beta?.home('restored', moved(1))
    await isOn('restored', 'beta')
    shards.alpha?.home('restored', {})
    shards.alpha?.home('last', {})
    await isOn('last', 'alpha')
    assert.equal(index.shardOf('restored')?.name, 'beta')
  })

  it('is the other one when the first one has a copy only', async () => {
    shards.alpha?.home('left', {})
    await isOn('left', 'alpha')
    shards.beta?.home('left', {})
    shards.alpha?.home('left', { [originAnnotation]: 'beta' })
    await isOn('left', 'beta')
  })

  it('is the one to which it has moved, also before that one was heard', async () => {
    shards.alpha?.home('unheard', {})
    await isOn('unheard', 'alpha')
    shards.alpha?.home('unheard', { [leavingAnnotation]: 'beta' }, 'DELETED')
    await isOn('unheard', 'beta')
    shards.beta?.home('unheard', moved(1))
    shards.beta?.home('unheard', {}, 'DELETED')
    while (index.shardOf('unheard') !== undefined) await new Promise(setImmediate)
  })
})

describe('a mount in a logical cluster', () => {
  const stop = new AbortController()
  after(() => stop.abort())

  /** An index with a mount on the shard alpha. */
  async function mounted(shards: Readonly<Record<string, FakeShard>>) {
    const objects = Object.keys(shards).map(name =>
      itemIn('root', name, {}, { spec: { baseURL: `https://${name}` } }),
    )
    const index = await followShards({
      root: new FakeShard({ shards: objects }).client,
      connect: ({ name }) => (shards[name] as FakeShard).client,
      externalUrl: 'https://proxy',
      log: silent,
      signal: stop.signal,
    })
    while (!index.isReady()) await new Promise(setImmediate)
    const place = index.find('holder:remote')
    assert.ok(place?.kind === 'URL')
    return place.changed
  }
  const withMount = (): FakeShard => {
    const more = { spec: { mount: {}, URL: 'https://peer' }, status: { phase: 'Ready' } }
    return new FakeShard({
      logicalclusters: [itemIn('holder', 'cluster', {})],
      workspaces: [itemIn('holder', 'remote', {}, more)],
    })
  }

  it('ends its streams when the logical cluster moves to another shard', async () => {
    const beta = new FakeShard()
    const changed = await mounted({ alpha: withMount(), beta })
    beta.home('holder', { [movedAnnotation]: '9,8,1' })
    await aborted(changed)
  })

  it('ends its streams when the logical cluster is gone, also if its own deletion is heard later', async () => {
    const alpha = withMount()
    const changed = await mounted({ alpha })
    alpha.home('holder', {}, 'DELETED')
    await aborted(changed)
  })
})

describe('a shard that does not answer', () => {
  const stop = new AbortController()
  after(() => stop.abort())

  const following = (get: PeerClient['get'], patience?: number): Promise<ShardIndex> => {
    const objects = ['alpha', 'other'].map(name =>
      itemIn('root', name, {}, { spec: { baseURL: `https://${name}` } }),
    )
    const alpha = new FakeShard({ logicalclusters: [itemIn('known', 'cluster', {})] })
    return followShards({
      root: new FakeShard({ shards: objects }).client,
      connect: ({ name }) => (name === 'other' ? { ...alpha.client, get } : alpha.client),
      externalUrl: 'https://proxy',
      ...(patience !== undefined && { patience }),
      log: silent,
      signal: stop.signal,
    })
  }
  const refuses = (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'))
  const hangs = (): Promise<never> => new Promise(() => undefined)
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await new Promise(setImmediate)
  }

  it('does not take the others out of service when it cannot be reached', async () => {
    const index = await following(refuses)
    await until(() => index.isServing())
    assert.equal(index.isReady(), false)
  })

  it('does not take the others out of service for long when it hangs', async () => {
    const index = await following(hangs, 0)
    await until(() => index.isServing())
    assert.equal(index.isReady(), false)
  })

  it('is waited for when it may answer yet', async () => {
    const index = await following(hangs)
    await until(() => index.find('known') !== undefined)
    assert.equal(index.isServing(), false)
  })
})
