import { declare, type FunctionDecl, overload, type Run } from '../values/declaration.ts'
import type { Meter } from '../values/meter.ts'
import { boolType, listOf, paramType } from '../values/type.ts'
import { itemsOf, type ListView, type Value } from '../values/value.ts'
import { contains } from './logic.ts'

type List = readonly Value[] | ListView

function containsAll(list: List, sublist: List, meter: Meter): boolean {
  for (const item of itemsOf(sublist)) if (!contains(list, item, meter)) return false
  return true
}

const intersects: Run = ([a, b], meter) => {
  for (const item of itemsOf(a as List)) if (contains(b as List, item, meter)) return true
  return false
}

const list = listOf(paramType('T'))

export const sets: readonly FunctionDecl[] = [
  declare(
    'sets.contains',
    overload('list_sets_contains_list', [list, list], boolType, ([a, b], meter) =>
      containsAll(a as List, b as List, meter),
    ),
  ),
  declare(
    'sets.equivalent',
    overload(
      'list_sets_equivalent_list',
      [list, list],
      boolType,
      ([a, b], meter) => containsAll(a as List, b as List, meter) && containsAll(b as List, a as List, meter),
    ),
  ),
  declare('sets.intersects', overload('list_sets_intersects_list', [list, list], boolType, intersects)),
]
