import { compilePattern, type Expression } from '../../framework/formats/pattern.ts'
import { type CostTracker, spend } from '../values/costtracker.ts'
import { declare, type FunctionDecl, type FunctionOp, member, overload } from '../values/declaration.ts'
import { boolType, intType, listOf, stringType } from '../values/type.ts'
import { CelError, type CelValue } from '../values/value.ts'

/** Runs an expression on a text; how long that may take is known before. */
function matched(
  text: CelValue | undefined,
  pattern: CelValue | undefined,
  tracker: CostTracker,
  use: (expression: Expression, text: string) => CelValue,
): CelValue {
  spend(tracker, String(pattern).length * 10)
  const expression = compilePattern(String(pattern))
  if (typeof expression === 'string') return new CelError(expression)
  spend(tracker, expression.steps(String(text)))
  return use(expression, String(text))
}

const matches: FunctionOp = ([text, pattern], tracker) =>
  matched(text, pattern, tracker, (expression, value) => expression.test(value))

const find: FunctionOp = ([text, pattern], tracker) =>
  illegal(matched(text, pattern, tracker, (expression, value) => expression.find(value, 1)[0] ?? ''))

const findAll: FunctionOp = ([text, pattern, count = -1], tracker) =>
  illegal(matched(text, pattern, tracker, (expression, value) => expression.find(value, Number(count))))

const illegal = (value: CelValue): CelValue =>
  value instanceof CelError ? new CelError(`Illegal regex: ${value.message}`) : value

export const regex: readonly FunctionDecl[] = [
  declare(
    'matches',
    overload('matches', [stringType, stringType], boolType, matches),
    member('matches_string', [stringType, stringType], boolType, matches),
  ),
  declare('find', member('string_find_string', [stringType, stringType], stringType, find)),
  declare(
    'findAll',
    member('string_find_all_string', [stringType, stringType], listOf(stringType), findAll),
    member('string_find_all_string_int', [stringType, stringType, intType], listOf(stringType), findAll),
  ),
]
