import {
  type Host,
  type Item,
  type ItemList,
  notFound,
  type RequestContext,
  type ResourceStorage,
} from '../../framework/index.ts'
import { opened, sealedList } from '../../framework/lens/sealedtoken.ts'
import { tenancyGroup } from '../../kcp/index.ts'
import { isOwn } from './access.ts'
import { type PersonalWatch, personalWatch } from './watch.ts'

/** The workspaces of the user: for every verb, other workspaces are not found. */
export function personal(storage: ResourceStorage, options: PersonalWatch): ResourceStorage {
  const { host } = options
  const check = async (ctx: RequestContext, item: Item): Promise<void> => {
    if (await isOwn(host, ctx.user, item, ctx.signal)) return
    throw notFound({ group: tenancyGroup, resource: 'workspaces', name: item.key.name })
  }
  const checked =
    <T>(ctx: RequestContext, inner: (item: Item) => T) =>
    async (item: Item): Promise<Awaited<T>> => {
      await check(ctx, item)
      return await inner(item)
    }
  return {
    ...storage,
    async get(ctx, key) {
      const item = await storage.get(ctx, key)
      await check(ctx, item)
      return item
    },
    list: (ctx, query) => sealedList(filtered(host, ctx, storage.list(ctx, opened(query)))),
    watch: (ctx, query) => personalWatch(storage, options, ctx, query),
    update: (ctx, key, change, write) => storage.update(ctx, key, checked(ctx, change), write),
    delete: (ctx, key, admit, write) => storage.delete(ctx, key, checked(ctx, admit), write),
  }
}

async function* filtered(host: Host, { user, signal }: RequestContext, list: ItemList): ItemList {
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      const items = [...next.value]
      const areOwn = await Promise.all(items.map(item => isOwn(host, user, item, signal)))
      const own = items.filter((_, i) => areOwn[i])
      if (own.length > 0) yield own
    }
    return next.value
  } finally {
    await list.return({ resourceVersion: '' })
  }
}
