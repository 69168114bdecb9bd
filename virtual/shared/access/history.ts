import { systemAdmin } from '../../../authz/index.ts'
import type { ClusterName, ClusterScope, ItemEvent } from '../../../framework/index.ts'

/** Called when permissions in a logical cluster change; `revision` is that of the change, 0 when it is unknown. */
type Follower = (cluster: ClusterName, revision: number) => void

/** The newest changes of permissions by logical cluster. */
export class AccessHistory {
  readonly #last = new Map<ClusterName, number>()
  readonly #followers = new Set<Follower>()
  #newest = 0
  /** All changes after this revision are known. */
  #start = Number.POSITIVE_INFINITY
  #gaps = 0

  /** Calls `newest` for the newest revision unless all changes since an earlier call are known. */
  async startAt(newest: () => Promise<number>): Promise<void> {
    if (this.#start !== Number.POSITIVE_INFINITY) return
    const gaps = this.#gaps
    const revision = await newest()
    if (gaps === this.#gaps) this.#start = revision
  }

  add({ item, previous }: ItemEvent): void {
    const { cluster } = item.key
    const revision = Number(item.meta.resourceVersion)
    // The informer has listed again, and does not know when the object was deleted.
    if (previous?.meta.resourceVersion === item.meta.resourceVersion) this.#gap()
    this.#last.set(cluster, Math.max(this.#last.get(cluster) ?? 0, revision))
    this.#newest = Math.max(this.#newest, revision)
    this.tell(cluster, revision)
  }

  #gap(): void {
    this.#gaps++
    this.#start = Number.POSITIVE_INFINITY
  }

  tell(cluster: ClusterName, revision: number): void {
    for (const follower of this.#followers) follower(cluster, revision)
  }

  /** Whether permissions in one of the logical clusters may have changed after a revision. */
  hasChanged(clusters: Iterable<ClusterScope>, revision: number): boolean {
    if (revision < this.#start || this.#lastIn(systemAdmin) > revision) return true
    for (const cluster of clusters) if (this.#lastIn(cluster) > revision) return true
    return false
  }

  #lastIn(cluster: ClusterScope): number {
    return cluster === '*' ? this.#newest : (this.#last.get(cluster) ?? 0)
  }

  /** Returns a function that removes the follower. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    return () => void this.#followers.delete(follower)
  }
}
