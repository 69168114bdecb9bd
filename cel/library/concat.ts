import { type CostTracker, spend } from '../values/costtracker.ts'
import { scalarKey } from '../values/equal.ts'
import {
  type CelValue,
  itemsOf,
  type ListKind,
  ListView,
  MapView,
  ObjectView,
  sizeOf,
} from '../values/value.ts'

type List = readonly CelValue[] | ListView

/** `a + b`. Sets add what is new, lists of type map replace what has the same key. */
export function addLists(a: List, b: List, tracker: CostTracker): CelValue {
  const size = sizeOf(a) + sizeOf(b)
  if (a instanceof ListView && a.kind.type !== 'atomic') {
    spend(tracker, size * 128)
    return merge(a, b, a.kind)
  }
  spend(tracker, size * 4)
  return [...itemsOf(a), ...itemsOf(b)]
}

const rawOf = (value: CelValue): unknown =>
  value instanceof ObjectView || value instanceof MapView || value instanceof ListView ? value.raw : value

function merge(a: ListView, b: List, kind: ListKind): ListView {
  const keyOf = kind.type === 'map' ? kind.keyOf : scalarKey
  const merged = new Map(a.raw.map(raw => [keyOf(raw), raw]))
  const others = b instanceof ListView ? b.raw : b.map(rawOf)
  for (const raw of others) {
    const key = keyOf(raw)
    if (kind.type === 'map' || !merged.has(key)) merged.set(key, raw)
  }
  return new ListView([...merged.values()], a.adapt, kind)
}
