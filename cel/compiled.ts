import { checkSteps } from './checker/check.ts'
import type { Environment } from './checker/environment.ts'
import { ProgramProblem } from './planner/plan.ts'
import { programOf } from './planner/program.ts'
import type { Replays } from './planner/replay.ts'
import { CostExceeded, type Effort, perCallLimit } from './values/costtracker.ts'
import { type CelType, sameType, typeText } from './values/type.ts'
import { CelError, type CelValue } from './values/value.ts'

/** CEL cost that is left for the expressions of one request together; `effort` is the work left. */
export interface CostBudget {
  left: number
  readonly effort: Effort
  readonly replays: Replays
}

/** A compiled expression, or the problem for which it cannot be compiled. */
export interface CompiledExpression {
  readonly source: string
  readonly type: CelType | undefined
  readonly problem: string | undefined
  /**
   * Evaluates with values of the environment's variables by name. Throws OutOfBudget when the budget is used up, and `Paused` after some
   * milliseconds: called again, it goes on from there.
   */
  evaluate(variables: Readonly<Record<string, CelValue>>, allowance: CostBudget): CelValue
}

/** Thrown when the expressions of one request exceed their cost budget. */
export class OutOfBudget extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run')
  }
}

/** Compiles an expression of a policy, in steps. `types` are the allowed result types; empty allows any. */
export function* compileExpression(
  source: string,
  environment: Environment,
  types: readonly CelType[] = [],
): Generator<void, CompiledExpression> {
  const failed = (problem: string): CompiledExpression => ({
    source,
    type: undefined,
    problem,
    evaluate: () => new CelError(problem),
  })
  const checked = yield* checkSteps(source, environment)
  if ('issues' in checked) return failed(`compilation failed: ${checked.issues}`)
  const { type } = checked
  if (types.length > 0 && !types.some(wanted => sameType(wanted, type))) {
    const texts = types.map(typeText)
    const wanted = texts.length === 1 ? texts.join('') : `one of [${texts.join(' ')}]`
    return failed(`must evaluate to ${wanted} but got ${typeText(type)}`)
  }
  const names = [...environment.variables.keys()]
  yield
  try {
    const program = programOf(checked.checked, names)
    const evaluate: CompiledExpression['evaluate'] = (variables, allowance) => {
      const values = names.map(name => variables[name])
      const { effort, replays } = allowance
      return within(allowance, () => program.go(values, { cost: perCallLimit, effort }, replays.of(program)))
    }
    return { source, type, problem: undefined, evaluate }
  } catch (error) {
    if (!(error instanceof ProgramProblem)) throw error
    return failed(`program instantiation failed: ${error.message}`)
  }
}

function within(
  allowance: CostBudget,
  run: () => { readonly value: CelValue; readonly cost: number },
): CelValue {
  try {
    const { value, cost } = run()
    if (cost > allowance.left) throw new OutOfBudget()
    allowance.left -= cost
    return value
  } catch (error) {
    if (!(error instanceof CostExceeded)) throw error
    allowance.left -= perCallLimit
    if (allowance.left < 0) throw new OutOfBudget()
    return new CelError(error.message)
  }
}
