import type { ItemEvent } from '../contract/item.ts'
import type { CacheItem } from './page.ts'

/**
 * One change of one object, as subscribers and the ring have it. The item of a deletion is the last state at the
 * revision of the deletion.
 */
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

  /** The approximate number of bytes that the ring retains for it. */
  get size(): number {
    return this.item.length + (this.previous?.length ?? 0) + 512
  }

  /** The event for a watch in which the object becomes visible. */
  get entered(): ItemEvent {
    this.#entered ??= this.type === 'ADDED' ? this : { type: 'ADDED', item: this.item }
    return this.#entered
  }

  /** The event for a watch in which the object is no longer visible: its last visible state, at the new version. */
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
