interface Entry {
  readonly at: number
  readonly key: string
}

/** Appointments by key: a binary heap, where an entry that was overtaken by an earlier wish is skipped when it surfaces. */
export interface Delays {
  /** Milliseconds since the epoch; the earliest of several wishes for a key wins. */
  set(key: string, at: number): void
  /** The time of the next appointment. */
  readonly next: number | undefined
  /** Removes and returns the keys whose time has come. */
  take(now: number): readonly string[]
}

export function createDelays(): Delays {
  const heap: Entry[] = []
  const wishes = new Map<string, number>()
  const dropStale = (): void => {
    for (let top = heap[0]; top && wishes.get(top.key) !== top.at; top = heap[0]) pop(heap)
  }
  return {
    set(key, at) {
      const known = wishes.get(key)
      if (known !== undefined && known <= at) return
      wishes.set(key, at)
      push(heap, { at, key })
    },
    get next() {
      dropStale()
      return heap[0]?.at
    },
    take(now) {
      const keys: string[] = []
      for (dropStale(); heap[0] && heap[0].at <= now; dropStale()) {
        const { key } = heap[0]
        wishes.delete(key)
        keys.push(key)
      }
      return keys
    },
  }
}

function push(heap: Entry[], entry: Entry): void {
  let child = heap.length
  for (; child > 0; ) {
    const parent = (child - 1) >> 1
    const above = heap[parent]
    if (above === undefined || above.at <= entry.at) break
    heap[child] = above
    child = parent
  }
  heap[child] = entry
}

function pop(heap: Entry[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let parent = 0
  for (;;) {
    const child = smallerChild(heap, parent)
    const below = heap[child]
    if (below === undefined || below.at >= last.at) break
    heap[parent] = below
    parent = child
  }
  heap[parent] = last
}

function smallerChild(heap: readonly Entry[], parent: number): number {
  const left = 2 * parent + 1
  const [a, b] = [heap[left], heap[left + 1]]
  return a !== undefined && b !== undefined && b.at < a.at ? left + 1 : left
}
