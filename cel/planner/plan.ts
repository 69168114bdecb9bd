import type { Checked } from '../checker/checker.ts'
import type { Expr } from '../syntax/ast.ts'
import type { Effort, Meter } from '../values/meter.ts'
import { CelError, type Value } from '../values/value.ts'

/** An evaluation under way: its variables by slot, and its meter. */
export interface Frame extends Meter {
  readonly slots: (Value | undefined)[]
}

/** Computes a part of an expression. */
export type Eval = (frame: Frame) => Value

/** An expression that cannot become a program, although its types are right. */
export class ProgramProblem extends Error {}

/** What a planner knows. */
export interface Plan {
  readonly checked: Checked
  /** Slots of variables by name, the innermost last. */
  readonly slots: ReadonlyMap<string, number>
  readonly counter: { next: number }
  /** Computes a part; what is constant is computed now. */
  plan(expr: Expr): Planned
  /** The same planner with more variables. */
  within(names: readonly string[]): Plan
}

/** A part and, if it does not depend on anything, its value. */
export interface Planned {
  readonly run: Eval
  readonly constant?: Value
}

export const constantOf = (value: Value): Planned => ({ run: () => value, constant: value })

export const slotOf = ({ slots }: Plan, name: string): number => slots.get(name) ?? -1

export function newFrame(slots: (Value | undefined)[], limit: number, effort: Effort): Frame {
  return { cost: 0, limit, effort, slots }
}

export const isError = (value: Value): value is CelError => value instanceof CelError
