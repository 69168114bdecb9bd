import { setMaxListeners } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import type { Informer } from '../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import type { ClusterCachedResource } from '../../kcp/cache.ts'
import { conditionIs } from '../../kcp/conditions.ts'

/** The objects that a ClusterCachedResource publishes from a revision of the store on. */
export interface PublishedSelection {
  readonly item: Item
  readonly since: number
  /** Aborted when the selection changes or ends. */
  readonly ended: AbortSignal
}

interface Entry extends PublishedSelection {
  readonly what: unknown
  readonly end: AbortController
}

/** The selections of one identity in all logical clusters. */
export interface JoinedSelections extends Pick<PublishedSelection, 'since' | 'ended'> {
  readonly selections: readonly PublishedSelection[]
}

/** Published resources by identity. */
export interface Selections {
  in(identity: string, cluster: ClusterName): readonly PublishedSelection[]
  /** They end together when one of them begins, changes or ends. */
  all(identity: string): JoinedSelections
}

/** Follows published resources. */
export function followSelections(published: Informer): Selections {
  const entries = new Map<string, Entry>()
  const joined = new Map<string, Joined>()
  const byIdentity = published.index(identityOf)
  const all = (identity: string) => byIdentity(identity).flatMap(item => entries.get(idOf(item)) ?? [])
  published.onEvent(event => {
    if (!apply(entries, event)) return
    for (const identity of identityOf(event.item)) {
      joined.get(identity)?.end.abort()
      if (all(identity).length === 0) joined.delete(identity)
      else joined.set(identity, joinedSince(Number(event.item.meta.resourceVersion)))
    }
  })
  return {
    in: (identity, cluster) => all(identity).filter(({ item }) => item.key.cluster === cluster),
    all: identity => ({ selections: all(identity), ...(joined.get(identity) ?? joinedSince(0)) }),
  }
}

interface Joined extends Pick<JoinedSelections, 'since' | 'ended'> {
  readonly end: AbortController
}

function joinedSince(since: number): Joined {
  const end = new AbortController()
  setMaxListeners(0, end.signal)
  return { since, end, ended: end.signal }
}

function identityOf({ object }: Item): readonly string[] {
  const { identityHash } = (object as ClusterCachedResource).status ?? {}
  return identityHash ? [identityHash] : []
}

/** Another shard chooses the uid of the copies that come from it. */
const idOf = ({ key: { cluster, name }, meta: { uid } }: Item): string => `${cluster}/${name}/${uid}`

/** Returns whether other objects are published now. */
function apply(entries: Map<string, Entry>, { type, item }: ItemEvent): boolean {
  const id = idOf(item)
  const { resourceVersion } = item.meta
  const known = entries.get(id)
  const what = type === 'DELETED' ? undefined : publishedBy(item)
  if (what === undefined) {
    known?.end.abort()
    return entries.delete(id)
  }
  if (known === undefined || !isDeepStrictEqual(known.what, what)) {
    const end = new AbortController()
    entries.set(id, { item, what, since: known ? Number(resourceVersion) : 0, end, ended: end.signal })
    known?.end.abort()
    return true
  }
  entries.set(id, { ...known, item })
  return false
}

/** The fields that select the published objects; undefined when none are published. */
function publishedBy({ object }: Item): unknown {
  const { metadata, spec, status } = object as ClusterCachedResource
  const isValid = conditionIs(status?.conditions, 'ResourceValid', 'True')
  if (metadata.deletionTimestamp !== undefined || !isValid) return undefined
  return [spec.group ?? '', spec.version, spec.resource, spec.labelSelector]
}
