import type { CheckedExpr } from '../checker/checker.ts'
import type { Expr } from '../syntax/ast.ts'
import type { Effort } from '../values/costtracker.ts'
import type { CelValue } from '../values/value.ts'
import { planAttribute } from './attribute.ts'
import { planCall } from './call.ts'
import { planComprehension } from './comprehension.ts'
import { planList, planMap, planStruct } from './construct.ts'
import { constantOf, type Interpretable, newExecutionFrame, type Planner } from './plan.ts'

/** A compiled expression, to be evaluated any number of times. */
export interface CelProgram {
  /**
   * The value, and what it cost. The variables are in the order they were compiled with; undefined is a variable that
   * has no value. Throws CostExceeded when it costs more than `limit` or takes too much effort.
   */
  run(variables: readonly (CelValue | undefined)[], limit: number, effort: Effort): EvalResult
}

export interface EvalResult {
  readonly value: CelValue
  readonly cost: number
}

/** Compiles a checked expression. Throws a ProgramProblem for what can be seen to fail. */
export function programOf(checked: CheckedExpr, variables: readonly string[]): CelProgram {
  const counter = { next: variables.length }
  const slots = new Map(variables.map((name, i) => [name, i]))
  const { run } = planner(checked, slots, counter).plan(checked.expr)
  return {
    run: (values, limit, effort) => {
      const frame = newExecutionFrame([...values], limit, effort)
      const value = run(frame)
      return { value, cost: frame.cost }
    },
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
