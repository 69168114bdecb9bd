import type { CheckedExpr } from '../checker/checker.ts'
import type { Expr } from '../syntax/ast.ts'
import type { CostTracker, Effort } from '../values/costtracker.ts'
import { CelError, type CelValue, noSuchOverload } from '../values/value.ts'
import type { Replay } from './replay.ts'

/** The state of an evaluation: its variables by slot, and its cost. */
export interface ExecutionFrame extends CostTracker {
  readonly slots: (CelValue | undefined)[]
  /** undefined: the evaluation is not interrupted. */
  readonly replay: Replay | undefined
}

/** Evaluates a part of an expression. */
export type Eval = (frame: ExecutionFrame) => CelValue

/** Thrown for a checked expression that cannot be planned. */
export class ProgramProblem extends Error {}

/** Plans the parts of a checked expression. */
export interface Planner {
  readonly checked: CheckedExpr
  /** Slots of variables by name, the innermost last. */
  readonly slots: ReadonlyMap<string, number>
  readonly counter: { next: number }
  /** Plans a part. Constants are evaluated now. */
  plan(expr: Expr): Interpretable
  /** A planner with additional variables. */
  within(names: readonly string[]): Planner
}

/** A planned part, and its value if it is constant. */
export interface Interpretable {
  readonly run: Eval
  readonly constant?: CelValue
}

export const constantOf = (value: CelValue): Interpretable => ({ run: () => value, constant: value })

export const slotOf = ({ slots }: Planner, name: string): number => slots.get(name) ?? -1

export function newExecutionFrame(
  slots: (CelValue | undefined)[],
  limit: number,
  effort: Effort,
  replay?: Replay,
): ExecutionFrame {
  return { cost: 0, limit, effort, slots, replay, longMatch: replay?.longMatch }
}

export const isError = (value: CelValue): value is CelError => value instanceof CelError

/** Evaluates only the branch that the condition selects. */
export const branch =
  (condition: Eval, ifTrue: Eval, ifFalse: Eval): Eval =>
  frame => {
    const value = condition(frame)
    if (value === true) return ifTrue(frame)
    if (value === false) return ifFalse(frame)
    return isError(value) ? value : noSuchOverload
  }
