import type { EventEmitter } from 'node:events'
import {
  encodedOf,
  fieldOf,
  type Item,
  type ItemEvent,
  initialEventsEnd,
  itemFrom,
  itemOf,
} from '../../../framework/contract/item.ts'
import type { ListQuery, Selection, WatchQuery } from '../../../framework/contract/storage.ts'
import { badRequest, expired, StatusError } from '../../../framework/meta/errors.ts'
import { matchesFields, matchesLabels } from '../../../framework/selectors/selectors.ts'
import { withResourceVersion } from '../../../framework/wire/encode.ts'
import { apiVersion, type History, idOf, itemsAt, revisionOf, type StoredKind } from './history.ts'

function sorted(history: History, query: Selection, until: number): Item[] {
  return [...itemsAt(history, until)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item)
    .filter(item => selects(query, item))
}

export async function* list(history: History, query: ListQuery) {
  const { until, after } = start(history, query)
  const items = sorted(history, query, until).filter(item => idOf(item.key) > after)
  const page = query.limit === undefined ? items : items.slice(0, query.limit)
  const rest = items.length - page.length
  if (page.length > 0) yield page
  const last = page.at(-1)
  const resourceVersion = String(until)
  if (rest === 0 || last === undefined) return { resourceVersion }
  const token = Buffer.from(JSON.stringify({ until, after: idOf(last.key) })).toString('base64url')
  const counted = query.labels === undefined && query.fields === undefined
  return { resourceVersion, continue: token, ...(counted && { remainingItemCount: rest }) }
}

/** The start of a list. */
interface Place {
  readonly until: number
  readonly after: string
}

function start(history: History, query: ListQuery): Place {
  if (query.continue !== undefined) return resume(history, query.continue)
  const asked = Number(query.resourceVersion ?? 0)
  const newest = revisionOf(history)
  if (asked > newest) throw tooLargeVersion(asked, newest)
  if (query.match !== 'Exact') return { until: newest, after: '' }
  if (asked < history.compacted) throw expired('The resourceVersion for the provided list is too old.')
  return { until: asked, after: '' }
}

function resume(history: History, token: string): Place {
  const place = parseToken(token)
  if (place.until >= history.compacted) return place
  const fresh = { ...place, until: revisionOf(history) }
  throw expired(
    'The provided continue parameter is too old to display a consistent list result.',
    Buffer.from(JSON.stringify(fresh)).toString('base64url'),
  )
}

export async function* watch(history: History, query: WatchQuery, signal: AbortSignal) {
  const asked = Number(query.resourceVersion ?? 0)
  let position = asked === 0 || query.initialEvents ? revisionOf(history) : asked
  if (position < history.compacted)
    throw expired(`too old resource version: ${position} (${history.compacted})`)
  if (query.initialEvents) yield initial(history, query, position)
  while (!signal.aborted) {
    const events = history.log.filter(change => change.revision > position).map(change => change.event)
    position = Math.max(position, revisionOf(history))
    const seen = events.flatMap(event => seenBy(query, event))
    if (seen.length > 0) yield seen
    else await nextChange(history.bell, signal)
  }
}

const initial = (history: History, query: WatchQuery, until: number): readonly ItemEvent[] => [
  ...sorted(history, query, until).map((item): ItemEvent => ({ type: 'ADDED', item })),
  ...(query.bookmarks ? [endOfInitialEvents(history.kind, until)] : []),
]

const selects = ({ cluster, namespace = '', labels, fields }: Selection, item: Item): boolean =>
  (cluster === '*' || cluster === item.key.cluster) &&
  (namespace === '' || namespace === item.key.namespace) &&
  matchesLabels(labels, item.meta.labels) &&
  matchesFields(fields, field => fieldOf(item, field))

/** rules.md 4.53. */
function seenBy(query: Selection, event: ItemEvent): readonly ItemEvent[] {
  const { item, previous, type } = event
  const now = type !== 'DELETED' && selects(query, item)
  const before = previous !== undefined && selects(query, previous)
  if (now && before) return [event]
  if (now) return [{ type: 'ADDED', item }]
  if (!before || previous === undefined) return []
  const last = withResourceVersion(encodedOf(previous), item.meta.resourceVersion)
  return [type === 'DELETED' ? event : { type: 'DELETED', item: itemFrom(last, previous.key), previous }]
}

function parseToken(token: string): { until: number; after: string } {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString())
  } catch {
    throw badRequest('invalid continue token: continue key is not valid: it is no token of ours')
  }
}

const tooLargeVersion = (asked: number, current: number): StatusError =>
  new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    retryAfterSeconds: 1,
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
  })

function endOfInitialEvents(kind: StoredKind, until: number): ItemEvent {
  const metadata = { annotations: { [initialEventsEnd]: 'true' }, resourceVersion: String(until) }
  return { type: 'BOOKMARK', item: itemOf({ apiVersion: apiVersion(kind), kind: kind.kind, metadata }, '') }
}

function nextChange(bell: EventEmitter, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      bell.off('change', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    bell.on('change', done)
    signal.addEventListener('abort', done)
  })
}
