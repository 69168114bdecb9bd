import type { RequestContext, ResourceStorage, Selection } from '../../../framework/index.ts'

/** The newest revision of a storage. */
export async function newestRevision(
  storage: ResourceStorage,
  ctx: RequestContext,
  selection: Selection,
): Promise<number> {
  const list = storage.list(ctx, { ...selection, limit: 1 })
  let next = await list.next()
  while (!next.done) next = await list.next()
  return Number(next.value.resourceVersion)
}
