import { turn } from '../../framework/async/turn.ts'
import {
  bookmark,
  expired,
  type Item,
  type ItemEvent,
  type ItemWatch,
  notFound,
  type RequestContext,
  type ResourceStorage,
  readOnly,
  type WatchQuery,
} from '../../framework/index.ts'
import { resources } from '../../kcp/index.ts'

import type { BoundSchemas } from './bound.ts'
import { isSelected, type State, type States } from './versions.ts'

const schemas = resources.apiResourceSchemas

/** The schemas of a consumer, from all logical clusters. */
export const schemaStorage = (bound: BoundSchemas, states: States): ResourceStorage =>
  readOnly(schemas, {
    async get({ cluster }, { name }) {
      const found = bound.of(cluster).find(({ key }) => key.name === name)
      if (found === undefined) throw notFound({ group: schemas.group, resource: schemas.resource, name })
      return found
    },
    /** Not paginated: there are few schemas. */
    async *list({ cluster }, query) {
      const { items, version } = states.of(cluster)
      yield items.filter(item => isSelected(item, query))
      return { resourceVersion: String(version) }
    },
    watch: (ctx, query) => watchSchemas(bound, states, ctx, query),
  })

/**
 * Watches the schemas of a consumer: they are ADDED and DELETED with bindings. Throws 410 for every version but the
 * current one: former states are not kept.
 */
async function* watchSchemas(
  bound: BoundSchemas,
  states: States,
  { cluster, signal }: RequestContext,
  query: WatchQuery,
): ItemWatch {
  let seen = startOf(states.of(cluster), query)
  let wake: () => void = () => undefined
  const ring = (): void => wake()
  const stop = bound.follow(cluster, ring)
  signal.addEventListener('abort', ring)
  try {
    for (let initial = query.initialEvents; !signal.aborted; initial = false) {
      const changed = new Promise<void>(resolve => {
        wake = resolve
      })
      const state = states.of(cluster)
      const now = selected(state, query)
      const events = [...changes(seen, now), ...marks(state, query, initial)]
      if (initial || events.some(({ type }) => type !== 'BOOKMARK')) yield events
      seen = now
      await changed
      // A change wakes all watches of the consumer.
      await turn()
    }
  } finally {
    signal.removeEventListener('abort', ring)
    stop()
  }
}

/** By uid: a schema that replaces another one of the same name is ADDED after that one is DELETED. */
type Seen = ReadonlyMap<string, Item>

const selected = ({ items }: State, query: WatchQuery): Seen =>
  new Map(items.filter(item => isSelected(item, query)).map(item => [item.meta.uid, item]))

function startOf(state: State, query: WatchQuery): Seen {
  if (query.initialEvents) return new Map()
  const { resourceVersion = '' } = query
  const fromNow = resourceVersion === '' || resourceVersion === '0'
  if (!fromNow && resourceVersion !== String(state.version))
    throw expired(`too old resource version: ${resourceVersion} (${state.version})`)
  return selected(state, query)
}

/** DELETED events first, so that a name is free for another schema. */
function changes(seen: Seen, now: Seen): readonly ItemEvent[] {
  const gone = [...seen].filter(([uid]) => !now.has(uid))
  const come = [...now].flatMap(([uid, item]): readonly ItemEvent[] => {
    const previous = seen.get(uid)
    if (previous === undefined) return [{ type: 'ADDED', item }]
    return previous.meta.resourceVersion === item.meta.resourceVersion
      ? []
      : [{ type: 'MODIFIED', item, previous }]
  })
  return [...gone.map(([, item]) => ({ type: 'DELETED', item }) as const), ...come]
}

/** Bookmarks have the version of the state: the versions of the schemas are older. */
const marks = ({ version }: State, { bookmarks }: WatchQuery, initial: boolean): readonly ItemEvent[] =>
  bookmarks
    ? [bookmark({ apiVersion: 'apis.kcp.io/v1alpha1', kind: 'APIResourceSchema' }, version, initial)]
    : []
