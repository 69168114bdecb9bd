import { systemAdmin } from '../../../authz/index.ts'
import type { ClusterName, ClusterScope, ItemEvent } from '../../../framework/index.ts'
import { Followers } from '../watching/followers.ts'
import { LastRevisions } from '../watching/lastrevisions.ts'

/** Called when permissions in a logical cluster change; `revision` is that of the change, 0 when it is unknown. */
type Follower = (cluster: ClusterName, revision: number) => void

/** The newest changes of permissions by logical cluster. */
export class AccessHistory {
  readonly #last = new LastRevisions()
  readonly #followers = new Followers<ClusterScope, Follower>()
  readonly #dependents: (cluster: ClusterName) => readonly ClusterName[]
  #newest = 0
  /** All changes after this revision are known. */
  #start = Number.POSITIVE_INFINITY
  #gaps = 0

  /** `dependents`: the logical clusters with objects whose visibility depends on permissions in another one. */
  constructor(dependents: (cluster: ClusterName) => readonly ClusterName[]) {
    this.#dependents = dependents
  }

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
    this.#last.record(cluster, revision)
    this.#newest = Math.max(this.#newest, revision)
    this.tell(cluster, revision)
  }

  #gap(): void {
    this.#gaps++
    this.#start = Number.POSITIVE_INFINITY
  }

  tell(cluster: ClusterName, revision: number): void {
    for (const scope of this.#concerned(cluster))
      for (const follower of this.#followers.of(scope)) follower(cluster, revision)
  }

  /** The scopes of watches in which something may be visible or not after a change. */
  #concerned(cluster: ClusterName): Iterable<ClusterScope> {
    if (cluster === systemAdmin) return this.#followers.keys
    return new Set(['*', cluster, ...this.#dependents(cluster)])
  }

  /** Whether permissions in one of the logical clusters may have changed after a revision. */
  hasChanged(clusters: Iterable<ClusterScope>, revision: number): boolean {
    if (revision < this.#start || this.#lastIn(systemAdmin) > revision) return true
    for (const cluster of clusters) if (this.#lastIn(cluster) > revision) return true
    return false
  }

  #lastIn(cluster: ClusterScope): number {
    return cluster === '*' ? this.#newest : this.#last.of(cluster)
  }

  /** Follows the changes that concern a logical cluster, or all. Returns a function that removes the follower. */
  follow(scope: ClusterScope, follower: Follower): () => void {
    return this.#followers.add(scope, follower)
  }
}
