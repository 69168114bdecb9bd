import type { Histories } from '../../framework/cache/histories.ts'
import { PageMap } from '../../framework/cache/pages.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { ListQuery, Selection } from '../../framework/contract/storage.ts'
import { batches, isUnbound, kindOf } from '../reading/listing.ts'
import type { Source } from '../reading/source.ts'
import { connected, isRetriable, Progress } from '../watches/connected.ts'
import { Copy } from './copy.ts'
import { CopiedItem } from './item.ts'

/** The source of a copy, and the request context that reads it. */
export interface CopySource {
  readonly source: Source
  readonly ctx: RequestContext
  readonly selection: Selection
  /** The events of all copies. */
  readonly histories: Histories
}

/** The objects need more memory than is left. */
export class NoRoom extends Error {
  constructor(bytes: number) {
    super(`the objects need more than the ${bytes} bytes that are left`)
  }
}

/**
 * Lists all objects now, or at `version` if the shard still has it. undefined: no shard serves the resource. Throws
 * `NoRoom` when the objects have more than `room` bytes.
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
  { source, ctx, selection, histories }: CopySource,
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
  return new Copy({ kind: kindOf(source, kind), items, revision, bytes }, histories)
}

/** Watches the shard and applies the events until the signal aborts. Reconnects. Throws when events would be lost. */
export async function keepUp({ source, ctx, selection }: CopySource, copy: Copy): Promise<void> {
  const progress = new Progress(String(copy.revision))
  const query = { ...selection, initialEvents: false, bookmarks: true }
  while (!ctx.signal.aborted) {
    try {
      for await (const events of connected({ source, ctx, query }, progress)) copy.apply(events)
    } catch (error) {
      if (isUnbound(source, error) || !isRetriable(source, error)) throw error
    }
    await progress.pause(ctx.signal)
  }
}
