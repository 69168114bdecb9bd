import type { CheckedExpr } from '../checker/checker.ts'
import type { Expr } from '../syntax/ast.ts'
import type { CostTracker, Effort } from '../values/costtracker.ts'
import { CelError, type CelValue } from '../values/value.ts'

/** An evaluation under way: its variables by slot, and its tracker. */
export interface ExecutionFrame extends CostTracker {
  readonly slots: (CelValue | undefined)[]
}

/** Computes a part of an expression. */
export type Eval = (frame: ExecutionFrame) => CelValue

/** An expression that cannot become a program, although its types are right. */
export class ProgramProblem extends Error {}

/** What a planner knows. */
export interface Planner {
  readonly checked: CheckedExpr
  /** Slots of variables by name, the innermost last. */
  readonly slots: ReadonlyMap<string, number>
  readonly counter: { next: number }
  /** Computes a part; what is constant is computed now. */
  plan(expr: Expr): Interpretable
  /** The same planner with more variables. */
  within(names: readonly string[]): Planner
}

/** A part and, if it does not depend on anything, its value. */
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
): ExecutionFrame {
  return { cost: 0, limit, effort, slots }
}

export const isError = (value: CelValue): value is CelError => value instanceof CelError
