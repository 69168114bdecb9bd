import type { ClusterName } from '../framework/meta/object.ts'

/**
 * The shard of each logical cluster. Of several shards that seem to have one, it is that to which it has moved more often: a shard
 * that was restored or is not reachable seems to have it still.
 */
export class Owners<S extends { readonly name: string }> {
  readonly #shards = new Map<ClusterName, S>()
  /** How often those have moved that have. */
  readonly #moves = new Map<ClusterName, number>()
  /** The other shards with a logical cluster, and how often it has moved there: one of them has it when it is gone from its shard. */
  readonly #others = new Map<ClusterName, Map<S, number>>()

  of(cluster: ClusterName): S | undefined {
    return this.#shards.get(cluster)
  }

  all(): IterableIterator<[ClusterName, S]> {
    return this.#shards.entries()
  }

  /** The logical clusters that several shards have. */
  shared(): readonly ClusterName[] {
    return [...this.#others.keys()]
  }

  /** A shard has a logical cluster. */
  add(cluster: ClusterName, shard: S, moves: number): void {
    const owner = this.#shards.get(cluster)
    const before = this.#moves.get(cluster) ?? 0
    const isOwner = owner === undefined || owner === shard || isRootOf(cluster, shard)
    if (!isOwner && cluster === 'root') return
    if (isOwner || moves > before) this.#assign(cluster, shard, moves)
    if (isOwner) return
    const others = new Map(this.#others.get(cluster))
    others.delete(shard)
    this.#others.set(cluster, moves > before ? others.set(owner, before) : others.set(shard, moves))
  }

  /** A shard has it no more. `destination`: the shard to which it has moved, which may not have been heard yet. */
  remove(cluster: ClusterName, shard: S, destination?: S): void {
    const others = this.#others.get(cluster)
    others?.delete(shard)
    if (this.#shards.get(cluster) === shard) {
      this.#shards.delete(cluster)
      this.#moves.delete(cluster)
      const next = others?.entries().next().value ?? (destination && ([destination, 0] as const))
      if (next !== undefined) this.#assign(cluster, ...next)
      if (next !== undefined) others?.delete(next[0])
    }
    if (others?.size === 0) this.#others.delete(cluster)
  }

  #assign(cluster: ClusterName, shard: S, moves: number): void {
    this.#shards.set(cluster, shard)
    if (moves > 0) this.#moves.set(cluster, moves)
  }
}

/** Only the shard `root` has the logical cluster `root` of the tree. */
const isRootOf = (cluster: ClusterName, { name }: { readonly name: string }): boolean =>
  cluster === 'root' && name === 'root'
