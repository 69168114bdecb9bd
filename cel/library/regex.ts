import { type CompiledPattern, compilePattern } from '../../framework/formats/pattern.ts'
import { declare, type FunctionDecl, member, overload, type Run } from '../values/declaration.ts'
import { type Meter, spend } from '../values/meter.ts'
import { boolType, intType, listOf, stringType } from '../values/type.ts'
import { CelError, type Value } from '../values/value.ts'

/** Runs an expression on a text; how long that may take is known before. */
function matched(
  text: Value | undefined,
  pattern: Value | undefined,
  meter: Meter,
  use: (expression: CompiledPattern, text: string) => Value,
): Value {
  spend(meter, String(pattern).length * 10)
  const expression = compilePattern(String(pattern))
  if (typeof expression === 'string') return new CelError(expression)
  spend(meter, expression.steps(String(text)))
  return use(expression, String(text))
}

const matches: Run = ([text, pattern], meter) =>
  matched(text, pattern, meter, (expression, value) => expression.test(value))

const find: Run = ([text, pattern], meter) =>
  illegal(matched(text, pattern, meter, (expression, value) => expression.find(value, 1)[0] ?? ''))

const findAll: Run = ([text, pattern, count = -1], meter) =>
  illegal(matched(text, pattern, meter, (expression, value) => expression.find(value, Number(count))))

const illegal = (value: Value): Value =>
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
