/** The logical cluster of a key, `<cluster>|<name>`; the key itself if it is only a logical cluster. */
const clusterOfKey = (key: string): string => {
  const bar = key.indexOf('|')
  return bar < 0 ? key : key.slice(0, bar)
}

/**
 * Unique keys that wait; the next is of the logical cluster at the front, which then moves to the end: none waits for
 * all keys of another. A logical cluster may take another worker only while it has fewer than are free, so that others find one
 * whatever the time that its keys take.
 */
export class KeysInTurn {
  readonly #byCluster = new Map<string, Set<string>>()
  /** How many keys were taken and are not done. */
  readonly #running = new Map<string, number>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(key: string): void {
    const cluster = clusterOfKey(key)
    const keys = this.#byCluster.get(cluster)
    if (keys?.has(key)) return
    if (keys === undefined) this.#byCluster.set(cluster, new Set([key]))
    else keys.add(key)
    this.#size++
  }

  /** Whether a key can be taken, with so many free workers. */
  hasNext(free: number): boolean {
    return this.#nextCluster(free) !== undefined
  }

  /** Removes the next key; undefined if there is none. */
  take(free: number): string | undefined {
    const cluster = this.#nextCluster(free)
    const keys = cluster === undefined ? undefined : this.#byCluster.get(cluster)
    if (cluster === undefined || keys === undefined) return undefined
    const [key = ''] = keys
    keys.delete(key)
    this.#byCluster.delete(cluster)
    if (keys.size > 0) this.#byCluster.set(cluster, keys)
    this.#size--
    this.#running.set(cluster, this.#runningIn(cluster) + 1)
    return key
  }

  /** A key that was taken does not run any more. */
  done(key: string): void {
    const cluster = clusterOfKey(key)
    const running = this.#runningIn(cluster) - 1
    if (running > 0) this.#running.set(cluster, running)
    else this.#running.delete(cluster)
  }

  #runningIn(cluster: string): number {
    return this.#running.get(cluster) ?? 0
  }

  /** Looks at one logical cluster more than workers are busy, at most. */
  #nextCluster(free: number): string | undefined {
    if (free <= 0) return undefined
    for (const cluster of this.#byCluster.keys()) if (this.#runningIn(cluster) < free) return cluster
    return undefined
  }
}
