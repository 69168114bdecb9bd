import type { ItemEvent } from '../contract/item.ts'
import type { CacheItem } from './item.ts'

/** One change of one object, as subscribers get it and as the ring keeps it. A deleted item is the last state at the
 * deletion's revision. */
export class CacheEvent<I extends CacheItem = CacheItem> implements ItemEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly item: I
  readonly previous?: I
  #entered: ItemEvent | undefined
  #left: ItemEvent | undefined

  constructor(type: CacheEvent['type'], item: I, previous?: I) {
    this.type = type
    this.item = item
    if (previous !== undefined) this.previous = previous
  }

  get revision(): number {
    return this.item.revision
  }

  /** About how many bytes the ring keeps alive by it. */
  get size(): number {
    return this.item.length + (this.previous?.length ?? 0) + 512
  }

  /** What somebody sees to whom the object became visible by this change. */
  get entered(): ItemEvent {
    this.#entered ??= this.type === 'ADDED' ? this : { type: 'ADDED', item: this.item }
    return this.#entered
  }

  /** What somebody sees from whose view the object went: its last visible content, at the new version. */
  get left(): ItemEvent {
    this.#left ??=
      this.type === 'DELETED' || this.previous === undefined ? this : departed(this.previous, this.revision)
    return this.#left
  }
}

const departed = (previous: CacheItem, revision: number): ItemEvent => ({
  type: 'DELETED',
  item: previous.at(revision),
  previous,
})
