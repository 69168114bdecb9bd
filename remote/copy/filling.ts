import { PageMap } from '../../framework/cache/pages.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { ListQuery, Selection } from '../../framework/contract/storage.ts'
import { batches, isNobodys, kindOf } from '../reading/listing.ts'
import type { Source } from '../reading/source.ts'
import { connected, mayPass, Progress } from '../watches/connected.ts'
import { Copy } from './copy.ts'
import { CopiedItem } from './item.ts'

/** What is copied, and as whom. */
export interface CopySource {
  readonly source: Source
  readonly ctx: RequestContext
  readonly selection: Selection
}

/** There is more to copy than may be. */
export class NoRoom extends Error {
  constructor(bytes: number) {
    super(`there is no room for more than ${bytes} bytes`)
  }
}

/**
 * Everything that there is now, or was at a version if the shard remembers that. undefined: nobody serves it. Throws when
 * it would be more than `room` bytes.
 */
export async function fill(original: CopySource, room: number, version?: string): Promise<Copy | undefined> {
  if (version === undefined) return fillWith(original, room, {})
  return fillWith(original, room, { resourceVersion: version, match: 'Exact' }).catch(error => {
    if (error instanceof NoRoom) throw error
    return fillWith(original, room, {})
  })
}

type Which = Pick<ListQuery, 'resourceVersion' | 'match'>

async function fillWith(
  { source, ctx, selection }: CopySource,
  room: number,
  which: Which,
): Promise<Copy | undefined> {
  const items = new PageMap<CopiedItem>()
  let bytes = 0
  const list = batches(source, ctx, { ...selection, ...which })
  let next = await list.next()
  for (; !next.done; next = await list.next())
    for (const item of next.value) {
      bytes += item.bytes.length
      if (bytes > room) throw new NoRoom(room)
      items.put(CopiedItem.of(item))
    }
  items.join()
  const { kind, metadata } = next.value
  const revision = Number(metadata.resourceVersion ?? 0)
  if (revision === 0) return undefined
  return new Copy({ kind: kindOf(source, kind), items, revision, bytes })
}

/** Follows the shard, over all connections, until the signal aborts. Throws when going on would lose something. */
export async function keepUp({ source, ctx, selection }: CopySource, copy: Copy): Promise<void> {
  const progress = new Progress(String(copy.revision))
  const query = { ...selection, initialEvents: false, bookmarks: true }
  while (!ctx.signal.aborted) {
    try {
      for await (const events of connected({ source, ctx, query }, progress)) copy.apply(events)
    } catch (error) {
      if (isNobodys(source, error) || !mayPass(source, error)) throw error
    }
    await progress.pause(ctx.signal)
  }
}
