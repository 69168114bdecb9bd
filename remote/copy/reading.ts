import { Pace } from '../../framework/async/awaitable.ts'
import { follow, timing } from '../../framework/cache/following.ts'
import { RingReader, tooOld } from '../../framework/cache/reader.ts'
import { matcherOf, rangeOf, take } from '../../framework/cache/selection.ts'
import type { ItemEvent } from '../../framework/contract/item.ts'
import type {
  ItemList,
  ItemWatch,
  ListQuery,
  Selection,
  WatchQuery,
} from '../../framework/contract/storage.ts'
import { expired } from '../../framework/meta/errors.ts'
import type { Progress } from '../watches/connected.ts'
import type { Copy } from './copy.ts'

/**
 * The oldest revision that may serve a list; undefined: only the shard can serve it, because it must be consistent,
 * exact, or the continuation of a page.
 */
export function oldestFor({
  resourceVersion = '',
  match,
  limit = 0,
  ...query
}: ListQuery): number | undefined {
  if (resourceVersion === '' || query.continue || match === 'Exact') return undefined
  const revision = Number(resourceVersion)
  return revision > 0 && limit > 0 ? undefined : revision
}

/** All selected objects, page by page. */
export async function* list(copy: Copy, selection: Selection): ItemList {
  const { revision } = copy
  const matches = matcherOf(selection, copy.kind)
  const pace = new Pace()
  for (const run of copy.snapshot().runs(rangeOf(selection))) {
    await pace.due()
    const { batch } = take(run, Number.POSITIVE_INFINITY, matches)
    if (batch.length > 0) yield batch
  }
  return { resourceVersion: String(revision) }
}

/** A watch of a copy. */
export interface CopyWatch {
  readonly copy: Copy
  readonly query: WatchQuery
  readonly signal: AbortSignal
}

/**
 * The events after the position of `progress`, which is updated. Ends when the copy closes. Events up to a newer
 * resourceVersion that the client already has are left out. Throws 410 when the events since the position are not in
 * the copy.
 */
export async function* watch({ copy, query, signal }: CopyWatch, progress: Progress): ItemWatch {
  const after = Number(progress.position)
  const position = copy.positionAfter(after)
  if (position === undefined) throw expired(tooOld(after, copy.ring))
  const reader = new RingReader(copy.ring, { position, revision: after }, query, copy.kind)
  const isNew = ({ item }: ItemEvent): boolean => Number(item.meta.resourceVersion) > after
  let isAhead = after > copy.revision
  try {
    for await (const events of follow(copy, reader, signal, timing(copy, copy.kind, query))) {
      const unseen = isAhead ? events.filter(isNew) : events
      if (unseen.length === 0) continue
      isAhead = false
      yield unseen
    }
  } finally {
    reader.leave()
    progress.moved(String(Math.max(after, reader.revision)))
  }
}
