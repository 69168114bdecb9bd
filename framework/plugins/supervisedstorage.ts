import { type Awaitable, after } from '../async/awaitable.ts'
import type { RequestContext } from '../contract/context.ts'
import type { Item, ItemEvent } from '../contract/item.ts'
import type { Deletion, ItemBatch, ListMeta, ResourceStorage } from '../contract/storage.ts'
import type { Culprit } from '../contract/viewfailure.ts'
import { originalStorage } from '../lens/privatestorage.ts'
import type { CheckedMember, MemberCalls } from './membercall.ts'
import { isBatch, isDeletion, isEvents, isItem, isListMeta, isNothing, isStream } from './results.ts'
import { SupervisedStream } from './stream.ts'

const anItem = 'an item, made by itemOf() or decodeItem()'

/** A storage of a plugin. `of`: the name of the storage in reports, such as `configmaps.storage`. */
export function supervisedStorage(calls: MemberCalls, given: ResourceStorage, of: string): ResourceStorage {
  // The copies are for the plugin, and it has passed the storage on.
  const storage = originalStorage(given)
  const members = storageMembers(storage, of)
  const served = <T>(ctx: RequestContext, member: CheckedMember<T>, run: () => unknown): Awaitable<T> =>
    after(calls.call(ctx, member, run), result => {
      calls.succeeded(ctx)
      return result
    })
  const stream = <T, R>(ctx: RequestContext, member: StreamMember<T, R>, run: () => unknown) => {
    const opened = calls.callNow(calls.reportsOf(ctx), member.opens, run)
    return new SupervisedStream<T, R>(calls, ctx, member, opened)
  }
  return {
    get: (ctx, ...args) => served(ctx, members.get, () => storage.get(ctx, ...args)),
    list: (ctx, query) => stream(ctx, members.list, () => storage.list(ctx, query)),
    watch: (ctx, query) => stream(ctx, members.watch, () => storage.watch(ctx, query)),
    create: async (ctx, ...args) => served(ctx, members.create, () => storage.create(ctx, ...args)),
    update: async (ctx, ...args) => served(ctx, members.update, () => storage.update(ctx, ...args)),
    // The key may be that of a listed item, which is stored.
    delete: async (ctx, key, ...args) =>
      served(ctx, members.delete, () => storage.delete(ctx, { ...key }, ...args)),
  }
}

interface StreamMember<T, R> {
  readonly opens: CheckedMember<AsyncGenerator>
  readonly yields: CheckedMember<T>
  readonly returns: CheckedMember<R>
}

interface StorageMembers {
  readonly get: CheckedMember<Item>
  readonly create: CheckedMember<Item>
  readonly update: CheckedMember<Item>
  readonly delete: CheckedMember<Deletion>
  readonly list: StreamMember<ItemBatch, ListMeta>
  readonly watch: StreamMember<readonly ItemEvent[], void>
}

function storageMembers(storage: ResourceStorage, of: string): StorageMembers {
  const member = (name: keyof ResourceStorage) => ({
    name: `${of}.${name}`,
    culprit: storage[name] as Culprit,
  })
  const item = (name: keyof ResourceStorage) => ({ ...member(name), wanted: anItem, is: isItem })
  const opens = (name: keyof ResourceStorage) => ({
    ...member(name),
    wanted: 'an async generator (async function*)',
    is: isStream,
  })
  return {
    get: item('get'),
    create: item('create'),
    update: item('update'),
    delete: { ...member('delete'), wanted: `{ item, removed } with ${anItem}`, is: isDeletion },
    list: {
      opens: opens('list'),
      yields: { ...member('list'), wanted: `lists of items: yield [${anItem}]`, is: isBatch },
      returns: {
        ...member('list'),
        wanted: 'the metadata of the list at its end: return { resourceVersion }',
        is: isListMeta,
      },
    },
    watch: {
      opens: opens('watch'),
      yields: { ...member('watch'), wanted: 'lists of events: yield [{ type, item }]', is: isEvents },
      returns: { ...member('watch'), wanted: 'nothing at its end', is: isNothing },
    },
  }
}
