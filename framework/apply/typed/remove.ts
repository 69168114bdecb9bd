import {
  fieldElement,
  isList,
  isMembers,
  type List,
  type Members,
  type PathElement,
} from '../fieldpath/fieldpath.ts'
import { below, type FieldSet, isEmpty } from '../fieldpath/fieldset.ts'
import { knownElementsOf } from './elements.ts'
import { branchOf, type ListType, type MapType, type MergeType } from './types.ts'

/**
 * The value without the fields of the set (`typed.TypedValue.RemoveItems`; rules.md 5.48). A value that loses all its
 * fields becomes an empty container if a field below it was in the set, and null if it was absent.
 */
export function removeItems(type: MergeType, value: unknown, set: FieldSet): unknown {
  switch (branchOf(type, value)) {
    case 'map':
      return isMembers(value) && type.map ? removeMembers(type.map, value, set) : null
    case 'list':
      return isList(value) && type.list ? removeFromList(type.list, value, set) : null
    default:
      return value
  }
}

/** Removes fields below an element. */
function removeBelow(type: MergeType | undefined, value: unknown, set: FieldSet): unknown {
  const left = type === undefined ? value : removeItems(type, value, set)
  if (left !== null) return left
  if (isMembers(value)) return {}
  return isList(value) ? [] : null
}

interface Removal {
  readonly set: FieldSet
  readonly element: PathElement
}

const isNamed = ({ set, element }: Removal): boolean => set.members.has(element)
const isAbove = ({ set, element }: Removal): boolean => !isEmpty(below(set, element))

function removeMembers(map: MapType, members: Members, set: FieldSet): unknown {
  if (map.isAtomic) return null
  const kept = Object.entries(members).filter(([key]) => !isNamed({ set, element: fieldElement(key) }))
  if (kept.length === 0) return null
  return Object.fromEntries(
    kept.map(([key, value]) => {
      const element = fieldElement(key)
      return [
        key,
        isAbove({ set, element }) ? removeBelow(map.member(key), value, below(set, element)) : value,
      ]
    }),
  )
}

function removeFromList(list: ListType, items: List, set: FieldSet): unknown {
  if (list.isAtomic || items.length === 0) return null
  const elements = knownElementsOf(list, items)
  const kept = items.flatMap((item, i) => {
    const element = elements[i] ?? ''
    if (isNamed({ set, element })) return []
    return [isAbove({ set, element }) ? removeBelow(list.item, item, below(set, element)) : item]
  })
  return kept.length === 0 ? null : kept
}
