import type { EventEmitter } from 'node:events'
import { encodedOf, type Item, type ItemEvent, itemFrom } from '../../../framework/contract/item.ts'
import { notFound } from '../../../framework/meta/errors.ts'
import type { ObjectKey } from '../../../framework/meta/object.ts'
import { withResourceVersion } from '../../../framework/wire/encode.ts'

/** The stored kind. */
export interface StoredKind {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
}

interface Change {
  readonly revision: number
  readonly event: ItemEvent
}

export const apiVersion = ({ group, version }: StoredKind): string =>
  group === '' ? version : `${group}/${version}`

export const idOf = ({ cluster, namespace, name }: ObjectKey): string => `${cluster}/${namespace}/${name}`

/** The events of the objects of one kind. */
export interface History {
  readonly kind: StoredKind
  readonly log: Change[]
  readonly bell: EventEmitter
  compacted: number
}

export const revisionOf = ({ log }: History): number => log.at(-1)?.revision ?? 1
export const aboutKey = ({ group, resource }: StoredKind, { name }: ObjectKey) => ({ group, resource, name })

/** The objects at a revision. */
export function itemsAt({ log }: History, until: number): Map<string, Item> {
  const items = new Map<string, Item>()
  for (const { revision, event } of log) {
    if (revision > until) break
    if (event.type === 'DELETED') items.delete(idOf(event.item.key))
    else items.set(idOf(event.item.key), event.item)
  }
  return items
}

export function current(history: History, key: ObjectKey): Item {
  const item = itemsAt(history, revisionOf(history)).get(idOf(key))
  if (item === undefined) throw notFound(aboutKey(history.kind, key))
  return item
}

export function commit(
  history: History,
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  item: Item,
  previous?: Item,
): Item {
  const revision = revisionOf(history) + 1
  const stamped = itemFrom(withResourceVersion(encodedOf(item), String(revision)), item.key)
  history.log.push({ revision, event: { type, item: stamped, ...(previous && { previous }) } })
  history.bell.emit('change')
  return stamped
}
