import type { Informer, Informers } from '../../framework/contract/informer.ts'
import { type Item, isCopied, originAnnotation } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { incomingAnnotation, shardAnnotation } from '../../kcp/annotations.ts'
import type { LogicalCluster } from '../../kcp/core.ts'
import { logicalClusterName } from '../../kcp/logicalclusters.ts'
import { movesIn } from '../../kcp/migration.ts'
import { resources } from '../../kcp/resources.ts'
import type { Workspace } from '../../kcp/tenancy.ts'
import type { TenancyResources } from '../controllers/host.ts'

interface Followed {
  /** Its LogicalClusters. */
  readonly clusters: Informer
  isSynced: boolean
}

type Handler = (cluster: ClusterName) => void

/**
 * Which of the other shards has a logical cluster: the one that its Workspace names, if that is on this shard, else the one whose copies
 * are here. Another shard that says to have it is believed only when that one has it no more: a shard that cannot be reached has it until
 * its Shard is deleted.
 */
export class Holders {
  readonly #informers: Informers
  readonly #tenancy: TenancyResources
  readonly #followed = new Map<string, Followed>()
  readonly #handlers = new Set<Handler>()

  constructor(informers: Informers, tenancy: TenancyResources) {
    this.#informers = informers
    this.#tenancy = tenancy
  }

  /** Adds a shard, until the returned function is called. */
  follow(shard: string, clusters: Informer): () => void {
    const followed: Followed = { clusters, isSynced: false }
    this.#followed.set(shard, followed)
    const changed = (): void => {
      for (const handler of this.#handlers) for (const { key } of clusters.list()) handler(key.cluster)
    }
    void clusters.synced.then(() => {
      followed.isSynced = true
      changed()
    })
    const stop = clusters.onEvent(({ item }) => {
      for (const handler of this.#handlers) handler(item.key.cluster)
    })
    return () => {
      stop()
      if (this.#followed.get(shard) === followed) this.#followed.delete(shard)
      changed()
    }
  }

  /** Calls `handler` when a shard may have got or lost a logical cluster. Returns a function that removes it. */
  onChange(handler: Handler): () => void {
    this.#handlers.add(handler)
    return () => void this.#handlers.delete(handler)
  }

  /** Whether this shard has the logical cluster of a LogicalCluster that `shard` shows, or another one: it may also have had it before. */
  isOfAnother(shard: string, home: Item): boolean {
    const { cluster } = home.key
    const known = this.#informers.for(resources.logicalClusters).get(cluster, '', logicalClusterName)
    if (known !== undefined && !isCopied(known.meta)) return true
    const assigned = this.#assigned(known ?? home)
    if (assigned !== undefined) return assigned !== shard && this.#has(assigned, cluster)
    if (known === undefined) return this.#isElsewhere(shard, cluster)
    const holder = known.meta.annotations[originAnnotation] ?? shard
    const isOlder = movesIn(known.meta.annotations) > movesIn(home.meta.annotations)
    return isOlder || (holder !== shard && this.#has(holder, cluster))
  }

  /** Also before it has told. */
  #has(shard: string, cluster: ClusterName): boolean {
    const known = this.#followed.get(shard)
    return known !== undefined && (!known.isSynced || has(known.clusters, cluster))
  }

  #isElsewhere(shard: string, cluster: ClusterName): boolean {
    return [...this.#followed].some(([name, { clusters }]) => name !== shard && has(clusters, cluster))
  }

  /** The shard that the Workspace names. */
  #assigned({ key, object }: Item): string | undefined {
    const { owner } = (object as LogicalCluster).spec ?? {}
    const workspaces = this.#informers.for(this.#tenancy.workspaces)
    const found = owner && workspaces.get(owner.cluster, '', owner.name)
    const isOwner = (found?.object as Workspace | undefined)?.spec?.cluster === key.cluster
    return isOwner ? found?.meta.annotations[shardAnnotation] : undefined
  }
}

/** Whether the logical cluster is there, also closed; not while it arrives. */
function has(clusters: Informer, cluster: ClusterName): boolean {
  const meta = clusters.get(cluster, '', logicalClusterName)?.meta
  return meta !== undefined && !isCopied(meta) && meta.annotations[incomingAnnotation] === undefined
}
