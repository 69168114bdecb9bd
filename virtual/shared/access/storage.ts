import {
  type ApiResource,
  type Item,
  type ListQuery,
  notFound,
  type RequestContext,
  type ResourceStorage,
} from '../../../framework/index.ts'
import { tokensOf } from '../../../framework/lens/sealedtoken.ts'
import { listShown } from '../listing/list.ts'
import { type Visibility, visibleOf } from './visibility.ts'
import { watchVisible } from './watch.ts'

/** The objects of a resource that the user sees: for every verb, the others are not found. */
export function visibleStorage(resource: ApiResource, visibility: Visibility): ResourceStorage {
  const { storage, group, names } = resource
  const check = async (ctx: RequestContext, item: Item): Promise<void> => {
    await visibility.ready(ctx.signal)
    if (await visibility.isVisible(ctx, item)) return
    throw notFound({ group, resource: names.plural, name: item.key.name })
  }
  const checked =
    <T>(ctx: RequestContext, inner: (item: Item) => T) =>
    async (item: Item): Promise<Awaited<T>> => {
      await check(ctx, item)
      return await inner(item)
    }
  async function* list(ctx: RequestContext, query: ListQuery): ReturnType<ResourceStorage['list']> {
    await visibility.ready(ctx.signal)
    const shown = (items: Iterable<Item>) => visibleOf(visibility, ctx, items)
    const about = JSON.stringify(['access', group, names.plural, ctx.user.name])
    return yield* listShown({ storage, tokens: tokensOf(ctx), about, shown }, ctx, query)
  }
  return {
    ...storage,
    async get(ctx, key) {
      const item = await storage.get(ctx, key)
      await check(ctx, item)
      return item
    },
    list,
    watch: (ctx, query) => watchVisible({ storage, visibility }, ctx, query),
    update: (ctx, key, change, write) => storage.update(ctx, key, checked(ctx, change), write),
    delete: (ctx, key, admit, write) => storage.delete(ctx, key, checked(ctx, admit), write),
  }
}
