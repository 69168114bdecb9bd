import type { CheckedExpr } from '../checker/checker.ts'
import type { Expr } from '../syntax/ast.ts'
import { CostExceeded, type Effort } from '../values/costtracker.ts'
import type { CelValue } from '../values/value.ts'
import { planAttribute } from './attribute.ts'
import { planCall } from './call.ts'
import { planComprehension } from './comprehension.ts'
import { planList, planMap, planStruct } from './construct.ts'
import { constantOf, type Interpretable, newExecutionFrame, type Planner } from './plan.ts'
import type { Replay } from './replay.ts'

/** A planned expression. */
export interface CelProgram {
  /**
   * Evaluates with values of the variables, in the order of planning; undefined is a variable without a value.
   * Throws CostExceeded above `limit`, or when `effort` is used up.
   */
  run(variables: readonly (CelValue | undefined)[], limit: number, effort: Effort): EvalResult
  /**
   * The same for an evaluation that may be long. Throws `Paused` after some milliseconds: called again with the same arguments, it goes
   * on from there.
   */
  go(variables: readonly (CelValue | undefined)[], limits: EvalLimits, replay: Replay): EvalResult
}

export interface EvalLimits {
  readonly cost: number
  readonly effort: Effort
}

export interface EvalResult {
  readonly value: CelValue
  readonly cost: number
}

/** Plans a checked expression. Throws a ProgramProblem for constant parts that fail. */
export function programOf(checked: CheckedExpr, variables: readonly string[]): CelProgram {
  const counter = { next: variables.length }
  const slots = new Map(variables.map((name, i) => [name, i]))
  const { run } = planner(checked, slots, counter).plan(checked.expr)
  const program: CelProgram = {
    run: (values, limit, effort) => {
      const frame = newExecutionFrame([...values], limit, effort)
      const value = run(frame)
      return { value, cost: frame.cost }
    },
    go(values, limits, replay) {
      const quick = replay.hasBegun ? undefined : shortRun(program, { values, ...limits }, replay.units)
      if (quick !== undefined) return quick
      const frame = newExecutionFrame([...values], limits.cost, limits.effort, replay)
      replay.begin(frame)
      const value = replay.result(program, frame, run)
      return { value, cost: frame.cost }
    },
  }
  return program
}

/** undefined: it takes longer. Most evaluations are short, and need no Replay. */
function shortRun(
  program: CelProgram,
  { values, cost, effort }: EvalLimits & { readonly values: readonly (CelValue | undefined)[] },
  units: number,
): EvalResult | undefined {
  const most = Math.min(units, effort.left)
  const own = { left: most }
  try {
    const result = program.run(values, Math.min(units, cost), own)
    effort.left -= most - own.left
    return result
  } catch (error) {
    if (error instanceof CostExceeded) return undefined
    throw error
  }
}

function planner(
  checked: CheckedExpr,
  slots: ReadonlyMap<string, number>,
  counter: { next: number },
): Planner {
  const plan: Planner = {
    checked,
    slots,
    counter,
    plan: expr => planExpr(plan, expr),
    within: names => {
      const more = new Map(slots)
      for (const name of names) more.set(name, counter.next++)
      return planner(checked, more, counter)
    },
  }
  return plan
}

function planExpr(plan: Planner, expr: Expr): Interpretable {
  switch (expr.kind) {
    case 'literal':
      return constantOf(expr.value)
    case 'ident':
    case 'select':
      return planAttribute(plan, expr)
    case 'call':
      return ['_[_]', '_[?_]', '_?._', '_?_:_'].includes(expr.name)
        ? planAttribute(plan, expr)
        : planCall(plan, expr)
    case 'list':
      return planList(plan, expr)
    case 'map':
      return planMap(plan, expr)
    case 'struct':
      return planStruct(plan, expr)
    case 'comprehension':
      return planComprehension(plan, expr)
  }
}
