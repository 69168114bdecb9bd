import type { CostTracker } from '../values/costtracker.ts'
import { declare, type FunctionDecl, type FunctionOp, overload } from '../values/declaration.ts'
import { boolType, listOf, paramType } from '../values/type.ts'
import { type CelValue, itemsOf, type ListView } from '../values/value.ts'
import { contains } from './logic.ts'

type List = readonly CelValue[] | ListView

function containsAll(list: List, sublist: List, tracker: CostTracker): boolean {
  for (const item of itemsOf(sublist)) if (!contains(list, item, tracker)) return false
  return true
}

const intersects: FunctionOp = ([a, b], tracker) => {
  for (const item of itemsOf(a as List)) if (contains(b as List, item, tracker)) return true
  return false
}

const list = listOf(paramType('T'))

export const sets: readonly FunctionDecl[] = [
  declare(
    'sets.contains',
    overload('list_sets_contains_list', [list, list], boolType, ([a, b], tracker) =>
      containsAll(a as List, b as List, tracker),
    ),
  ),
  declare(
    'sets.equivalent',
    overload(
      'list_sets_equivalent_list',
      [list, list],
      boolType,
      ([a, b], tracker) =>
        containsAll(a as List, b as List, tracker) && containsAll(b as List, a as List, tracker),
    ),
  ),
  declare('sets.intersects', overload('list_sets_intersects_list', [list, list], boolType, intersects)),
]
