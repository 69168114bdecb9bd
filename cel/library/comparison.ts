import { compareValues } from '../values/compare.ts'
import { declare, type FunctionDecl, type FunctionOp, overload } from '../values/declaration.ts'
import { equalValues } from '../values/equal.ts'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  paramType,
  stringType,
  timestampType,
  uintType,
} from '../values/type.ts'
import { type CelValue, noSuchOverload } from '../values/value.ts'

/** Pairs of types that have an order, and how overloads of them are called. */
const ordered: readonly (readonly [string, CelType, CelType])[] = [
  ['bool', boolType, boolType],
  ['int64', intType, intType],
  ['int64_double', intType, doubleType],
  ['int64_uint64', intType, uintType],
  ['uint64', uintType, uintType],
  ['uint64_double', uintType, doubleType],
  ['uint64_int64', uintType, intType],
  ['double', doubleType, doubleType],
  ['double_int64', doubleType, intType],
  ['double_uint64', doubleType, uintType],
  ['string', stringType, stringType],
  ['bytes', bytesType, bytesType],
  ['timestamp', timestampType, timestampType],
  ['duration', durationType, durationType],
]

function comparison(name: string, prefix: string, holds: (order: number) => boolean): FunctionDecl {
  const run: FunctionOp = ([a = null, b = null]) => {
    const order = compareValues(a, b)
    return order === undefined ? noSuchOverload : holds(order)
  }
  return declare(
    name,
    ...ordered.map(([suffix, a, b]) => overload(`${prefix}_${suffix}`, [a, b], boolType, run)),
  )
}

const a = paramType('A')

const equality: FunctionOp = ([x = null, y = null], tracker): CelValue => equalValues(x, y, tracker)

export const comparisons: readonly FunctionDecl[] = [
  comparison('_<_', 'less', order => order < 0),
  comparison('_<=_', 'less_equals', order => order <= 0),
  comparison('_>_', 'greater', order => order > 0),
  comparison('_>=_', 'greater_equals', order => order >= 0),
  declare('_==_', overload('equals', [a, a], boolType, equality)),
  declare(
    '_!=_',
    overload('not_equals', [a, a], boolType, (args, tracker) => equality(args, tracker) !== true),
  ),
]
