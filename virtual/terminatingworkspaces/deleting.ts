import {
  type Item,
  type ItemEvent,
  type ItemList,
  type ItemWatch,
  notFound,
  type Params,
  type RequestContext,
  type ResourceStorage,
} from '../../framework/index.ts'

const mark = Buffer.from('"deletionTimestamp":')

const isDeleting = (item: Item): boolean =>
  item.bytes.includes(mark) && item.object.metadata.deletionTimestamp !== undefined

/**
 * Filters terminating objects. Unlike with a lens, an object enters a watch as MODIFIED, as in kcp
 * (`pkg/virtual/terminatingworkspaces/builder`).
 */
export function deletingOnly<P extends Params>(storage: ResourceStorage<P>): ResourceStorage<P> {
  return {
    ...storage,
    get: async (ctx, key) => deleting(ctx, await storage.get(ctx, key)),
    list: (ctx, query) => listDeleting(storage.list(ctx, query)),
    watch: (ctx, query) => watchDeleting(storage.watch(ctx, query)),
    update: (ctx, key, change, options) =>
      storage.update(ctx, key, current => change(deleting(ctx, current)), options),
  }
}

function deleting<P extends Params>({ info }: RequestContext<P>, item: Item): Item {
  if (isDeleting(item)) return item
  const { group, resource } = info.isResource ? info : { group: '', resource: '' }
  throw notFound({ group, resource, name: item.key.name })
}

async function* listDeleting(list: ItemList): ItemList {
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) yield [...next.value].filter(isDeleting)
    const { remainingItemCount: _, ...meta } = next.value
    return meta
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

async function* watchDeleting(watch: ItemWatch): ItemWatch {
  for await (const events of watch) {
    const seen = events.filter(isSeen)
    if (seen.length > 0) yield seen.length === events.length ? events : seen
  }
}

const isSeen = ({ type, item }: ItemEvent): boolean => type === 'BOOKMARK' || isDeleting(item)
