import { bookmarks, follow } from '../../framework/cache/following.ts'
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

/** How old the answer may be, as a revision; undefined: not at all, or it has to be exactly that. */
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

/** Everything that is selected, page by page. */
export async function* list(copy: Copy, selection: Selection): ItemList {
  const { revision } = copy
  const matches = matcherOf(selection, copy.kind)
  for (const run of copy.snapshot().runs(rangeOf(selection))) {
    const { batch } = take(run, Number.POSITIVE_INFINITY, matches)
    if (batch.length > 0) yield batch
  }
  return { resourceVersion: String(revision) }
}

/** What one watch reads of a copy. */
export interface CopyWatch {
  readonly copy: Copy
  readonly query: WatchQuery
  readonly signal: AbortSignal
}

/**
 * What happens from the position on, which moves. Ends with the copy. The client may know more than has come here: then
 * that is left out. Throws 410 where the copy does not remember the position, or not any more.
 */
export async function* watch({ copy, query, signal }: CopyWatch, progress: Progress): ItemWatch {
  const after = Number(progress.position)
  const position = copy.positionAfter(after)
  if (position === undefined) throw expired(tooOld(after, copy.ring))
  const reader = new RingReader(copy.ring, { position, revision: after }, query, copy.kind)
  const isNew = ({ item }: ItemEvent): boolean => Number(item.meta.resourceVersion) > after
  let isAhead = after > copy.revision
  try {
    for await (const events of follow(copy, reader, signal, bookmarks(copy, copy.kind, query))) {
      const told = isAhead ? events.filter(isNew) : events
      if (told.length === 0) continue
      isAhead = false
      yield told
    }
  } finally {
    reader.leave()
    progress.moved(String(Math.max(after, reader.revision)))
  }
}
