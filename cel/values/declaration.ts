import type { CostTracker } from './costtracker.ts'
import type { CelType } from './type.ts'
import type { CelValue } from './value.ts'

/** Computes a call. The arguments have the declared kinds, the target is the first; none is an error. */
export type FunctionOp = (args: readonly CelValue[], tracker: CostTracker) => CelValue

/** An overload of a function, as cel-go's `OverloadDecl`. */
export interface Overload {
  readonly id: string
  /** Called as `target.name(…)`; the target is the first of `params`. */
  readonly member: boolean
  readonly params: readonly CelType[]
  readonly result: CelType
  readonly run: FunctionOp
}

export interface FunctionDecl {
  readonly name: string
  readonly overloads: readonly Overload[]
}

const declared =
  (member: boolean) =>
  (id: string, params: readonly CelType[], result: CelType, run: FunctionOp): Overload => ({
    id,
    member,
    params,
    result,
    run,
  })

/** A global function. */
export const overload = declared(false)
/** A function of its first parameter: `target.name(…)`. */
export const member = declared(true)

export const declare = (name: string, ...overloads: readonly Overload[]): FunctionDecl => ({
  name,
  overloads,
})

/** Functions by name. Declarations with the same name become one function with all overloads. */
export function functionsOf(declarations: readonly FunctionDecl[]): ReadonlyMap<string, FunctionDecl> {
  const functions = new Map<string, FunctionDecl>()
  for (const { name, overloads } of declarations) {
    const known = functions.get(name)?.overloads ?? []
    functions.set(name, { name, overloads: [...known, ...overloads] })
  }
  return functions
}
