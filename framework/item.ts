import type { KubeObject, ObjectKey } from './object.ts'

/** The part of `metadata` that filters read. Kept beside the bytes, so that a filter never decodes the body. */
export interface ObjectMeta extends ObjectKey {
  readonly uid: string
  /** Decimal, no leading zeros (chapter 40, rule 3.28). */
  readonly resourceVersion: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** One stored object. Bytes are the truth; `meta` is what filters need; `object` is decoded on first use. */
export interface Item {
  readonly key: ObjectKey
  readonly meta: ObjectMeta
  /** The whole object as JSON on one line, without a trailing newline: what clients are sent. */
  readonly bytes: Buffer
  readonly object: KubeObject
}

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'

/**
 * One change. `previous` is the state before it (absent for ADDED and BOOKMARK). A DELETED item is the last state at
 * the deletion's resourceVersion. A BOOKMARK item has only apiVersion, kind, metadata.resourceVersion and, at the end
 * of initial events, its annotation (chapter 40, rules 4.52–4.55).
 */
export interface ItemEvent {
  readonly type: EventType
  readonly item: Item
  readonly previous?: Item
}
