/** The logical cluster of a key, `<cluster>|<name>`; the key itself if it is only a logical cluster. */
const clusterOf = (key: string): string => {
  const bar = key.indexOf('|')
  return bar < 0 ? key : key.slice(0, bar)
}

/**
 * Unique keys that wait; the next is of the logical cluster at the front, which then moves to the end: none waits for
 * all keys of another.
 */
export class KeysInTurn {
  readonly #byCluster = new Map<string, Set<string>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(key: string): void {
    const cluster = clusterOf(key)
    const keys = this.#byCluster.get(cluster)
    if (keys?.has(key)) return
    if (keys === undefined) this.#byCluster.set(cluster, new Set([key]))
    else keys.add(key)
    this.#size++
  }

  /** Removes the next key; undefined if there is none. */
  take(): string | undefined {
    for (const [cluster, keys] of this.#byCluster) {
      const [key = ''] = keys
      keys.delete(key)
      this.#byCluster.delete(cluster)
      if (keys.size > 0) this.#byCluster.set(cluster, keys)
      this.#size--
      return key
    }
    return undefined
  }
}
