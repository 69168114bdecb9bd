import type { IndexFn, Informer } from '../contract/informer.ts'
import type { Item, ItemEvent } from '../contract/item.ts'
import type { ObjectKey } from '../meta/object.ts'

/**
 * The objects of an informer with their indexes. Changes are applied one at a time, and handlers are called in order.
 */
export interface LocalCopy extends Omit<Informer, 'synced'> {
  /** Applies a watch event. Its type follows from the local state: repeated and missing events do not matter. */
  apply(event: ItemEvent): void
  /** Replaces all objects by those of a list. */
  replace(items: readonly Item[]): void
}

interface Index {
  readonly fn: IndexFn
  readonly items: Map<string, Map<string, Item>>
}

const objectKey = ({ cluster, namespace, name }: ObjectKey): string => `${cluster}/${namespace}/${name}`

interface State {
  readonly items: Map<string, Item>
  readonly clusters: Index
  readonly indexes: Map<IndexFn, Index>
  readonly handlers: Set<(event: ItemEvent) => void>
  readonly onError: (error: unknown) => void
}

/** `onError` gets the errors of handlers; the copy and the other handlers continue. */
export function createLocalCopy(onError: (error: unknown) => void): LocalCopy {
  const items = new Map<string, Item>()
  const clusters: Index = { fn: item => [item.key.cluster], items: new Map() }
  const state: State = { items, clusters, indexes: new Map(), handlers: new Set(), onError }
  return {
    get: (cluster, namespace, name) => items.get(objectKey({ cluster, namespace, name })),
    list: cluster => (cluster === undefined ? [...items.values()] : found(clusters, cluster)),
    index: fn => {
      const index = state.indexes.get(fn) ?? built(fn, items)
      state.indexes.set(fn, index)
      return key => found(index, key)
    },
    onEvent: handler => {
      for (const item of items.values()) call(handler, { type: 'ADDED', item }, onError)
      state.handlers.add(handler)
      return () => void state.handlers.delete(handler)
    },
    apply: event => {
      if (event.type === 'DELETED') remove(state, event.item)
      else if (event.type !== 'BOOKMARK') set(state, event.item)
    },
    replace: next => replace(state, next),
  }
}

function replace(state: State, next: readonly Item[]): void {
  const kept = new Set(next.map(item => objectKey(item.key)))
  for (const [key, item] of [...state.items]) if (!kept.has(key)) remove(state, item)
  for (const item of next) set(state, item)
}

function set(state: State, item: Item): void {
  const known = state.items.get(objectKey(item.key))
  const isSame = known?.meta.resourceVersion === item.meta.resourceVersion && known.meta.uid === item.meta.uid
  if (!isSame) store(state, item, { type: known === undefined ? 'ADDED' : 'MODIFIED', item })
}

function remove(state: State, item: Item): void {
  if (state.items.has(objectKey(item.key))) store(state, undefined, { type: 'DELETED', item })
}

function store(state: State, item: Item | undefined, event: ItemEvent): void {
  const key = objectKey(event.item.key)
  const previous = state.items.get(key)
  for (const index of [state.clusters, ...state.indexes.values()]) reindex(index, key, previous, item)
  if (item === undefined) state.items.delete(key)
  else state.items.set(key, item)
  const change = previous === undefined ? event : { ...event, previous }
  for (const handler of state.handlers) call(handler, change, state.onError)
}

function call(
  handler: (event: ItemEvent) => void,
  event: ItemEvent,
  onError: (error: unknown) => void,
): void {
  try {
    handler(event)
  } catch (error) {
    onError(error)
  }
}

const found = (index: Index, key: string): readonly Item[] => [...(index.items.get(key)?.values() ?? [])]

function built(fn: IndexFn, items: ReadonlyMap<string, Item>): Index {
  const index: Index = { fn, items: new Map() }
  for (const [key, item] of items) reindex(index, key, undefined, item)
  return index
}

function reindex(index: Index, key: string, previous: Item | undefined, next: Item | undefined): void {
  for (const value of previous === undefined ? [] : index.fn(previous)) {
    const bucket = index.items.get(value)
    bucket?.delete(key)
    if (bucket?.size === 0) index.items.delete(value)
  }
  for (const value of next === undefined ? [] : index.fn(next)) {
    const bucket = index.items.get(value) ?? new Map<string, Item>()
    index.items.set(value, bucket)
    bucket.set(key, next as Item)
  }
}
