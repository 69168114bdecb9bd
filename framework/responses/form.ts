import type { Item } from '../contract/item.ts'
import type { ListMeta } from '../contract/storage.ts'

/** How a list is written: `head`, elements with commas between them, `],"metadata":{…}}`. */
export interface ListForm {
  /** Up to and with the opening bracket of the elements. */
  readonly head: string
  /** One element; absent when elements are the items' bytes as they are. */
  readonly element?: (item: Item) => Buffer
  /** The list at once, in forms that begin with their length; then nothing else counts. */
  readonly whole?: (items: readonly Item[], meta: ListMeta) => Buffer
}

/** How one object is written, in an answer or in an event. */
export type ObjectForm = (item: Item) => Buffer
