import { isDeepStrictEqual } from 'node:util'
import type { Informer } from '../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
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

/** Follows published resources, by identity and logical cluster. */
export function followSelections(
  published: Informer,
): (identity: string, cluster: string) => readonly PublishedSelection[] {
  const entries = new Map<string, Entry>()
  published.onEvent(event => apply(entries, event))
  const byIdentity = published.index(identityOf)
  return (identity, cluster) =>
    byIdentity(identity)
      .filter(({ key }) => key.cluster === cluster)
      .flatMap(({ meta }) => entries.get(meta.uid) ?? [])
}

function identityOf({ object }: Item): readonly string[] {
  const { identityHash } = (object as ClusterCachedResource).status ?? {}
  return identityHash ? [identityHash] : []
}

function apply(entries: Map<string, Entry>, { type, item }: ItemEvent): void {
  const { uid, resourceVersion } = item.meta
  const known = entries.get(uid)
  const what = type === 'DELETED' ? undefined : publishedBy(item)
  if (what === undefined) {
    entries.delete(uid)
    known?.end.abort()
  } else if (known === undefined || !isDeepStrictEqual(known.what, what)) {
    const end = new AbortController()
    entries.set(uid, { item, what, since: known ? Number(resourceVersion) : 0, end, ended: end.signal })
    known?.end.abort()
  } else entries.set(uid, { ...known, item })
}

/** The fields that select the published objects; undefined when none are published. */
function publishedBy({ object }: Item): unknown {
  const { metadata, spec, status } = object as ClusterCachedResource
  const isValid = conditionIs(status?.conditions, 'ResourceValid', 'True')
  if (metadata.deletionTimestamp !== undefined || !isValid) return undefined
  return [spec.group ?? '', spec.version, spec.resource, spec.labelSelector]
}
