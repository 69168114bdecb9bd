import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import { type Item, type ItemEvent, initialEventsEnd } from '../../../framework/contract/item.ts'
import { silent } from '../../../framework/contract/log.ts'
import type {
  ItemWatch,
  ListQuery,
  ResourceStorage,
  WatchQuery,
} from '../../../framework/contract/storage.ts'
import { testContext } from '../../../test/support/context.ts'
import { eventually } from '../../../test/support/oriel.ts'
import { remoteStorage } from '../../storage.ts'
import { ScriptedShard } from '../../testing/scriptedshard.ts'
import { Copies } from '../copies.ts'

const ref = { group: 'example.com', version: 'v1', resource: 'widgets', identity: 'abc' }
export const shown = ({ key, meta }: Item): string => `${key.name}@${meta.resourceVersion}`

export function told({ type, item, previous }: ItemEvent): string {
  const end = item.meta.annotations[initialEventsEnd] === undefined ? '' : '!'
  if (type === 'BOOKMARK') return `BOOKMARK @${item.meta.resourceVersion}${end}`
  return `${type} ${shown(item)}${previous === undefined ? '' : ` was @${previous.meta.resourceVersion}`}`
}

/** A scripted shard, and a storage with copies in front of it. */
export interface Copied {
  readonly shard: ScriptedShard
  readonly storage: ResourceStorage
  readonly stop: AbortController
}

/** Opens a new scene for each test of a suite. */
export function copied(): Copied {
  const scene = {} as Copied
  beforeEach(() => void Object.assign(scene, openCopied()))
  afterEach(() => scene.stop.abort())
  return scene
}

function openCopied(): Copied {
  const shard = new ScriptedShard()
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  const copies = new Copies({ isGood: () => shard.failure === undefined, log: silent, signal: stop.signal })
  return { shard, stop, storage: remoteStorage(shard.connection, ref, { copies }) }
}

export const ctx = (scene: Copied) => testContext({ cluster: '*', signal: scene.stop.signal })

export const watch = (scene: Copied, query: Partial<WatchQuery> = {}): ItemWatch =>
  scene.storage.watch(ctx(scene), { cluster: '*', initialEvents: false, bookmarks: false, ...query })

export async function list(scene: Copied, query: Partial<ListQuery> = {}): Promise<readonly string[]> {
  const items: string[] = []
  const pages = scene.storage.list(ctx(scene), { cluster: '*', ...query })
  let next = await pages.next()
  for (; !next.done; next = await pages.next()) {
    items.push(...[...next.value].map(shown))
    const joined = [...next.value].map(item => item.bytes.toString()).join(',')
    assert.equal(next.value.bytes?.toString() ?? joined, joined)
  }
  return [...items, next.value.resourceVersion]
}

export async function events(from: ItemWatch, count: number): Promise<readonly string[]> {
  const found: string[] = []
  while (found.length < count) {
    const next = await from.next()
    if (next.done) return [...found, 'end']
    found.push(...next.value.map(told))
  }
  return found
}

/** Resolves when the copy has the newest revision. */
export const current = (scene: Copied): Promise<unknown> =>
  eventually(
    () => list(scene, { resourceVersion: '0' }),
    seen => Number(seen.at(-1)) >= scene.shard.revision,
  )
