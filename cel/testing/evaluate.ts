import assert from 'node:assert/strict'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { check } from '../checker/check.ts'
import { environment } from '../checker/environment.ts'
import { estimateCost } from '../cost/estimate.ts'
import type { Estimate } from '../cost/estimatesize.ts'
import { ProgramProblem } from '../planner/plan.ts'
import { type CelProgram, type EvalResult, programOf } from '../planner/program.ts'
import { Paused, Replay } from '../planner/replay.ts'
import { declarationOf } from '../schema/schematype.ts'
import { CostExceeded, newEffort } from '../values/costtracker.ts'
import type { CelValue } from '../values/value.ts'
import { show } from './show.ts'

/** Data and its schema, called `self` in expressions. */
export interface Self {
  readonly schema: JSONSchemaProps
  readonly value: unknown
}

export interface Evaluated {
  /** The value, `error: …`, or the issues of the expression. */
  readonly text: string
  readonly cost?: number
  readonly estimate?: Estimate
}

/** Evaluates with as many interruptions as there can be. */
function inSteps(program: CelProgram, variables: readonly (CelValue | undefined)[]): EvalResult {
  const [replay, limits] = [new Replay(undefined, 1), { cost: 1_000_000, effort: newEffort() }]
  for (;;)
    try {
      return program.go(variables, limits, replay)
    } catch (error) {
      if (!(error instanceof Paused)) throw error
    }
}

/** Values, errors and costs of an expression, which are the same when it is interrupted. */
export function evaluate(source: string, self?: Self): Evaluated {
  const declaration = self === undefined ? undefined : declarationOf(self.schema)
  const env = environment(declaration === undefined ? {} : { self: declaration.type }, name =>
    declaration?.struct(name),
  )
  const checked = check(source, env)
  if ('issues' in checked) return { text: checked.issues }
  const estimate = estimateCost(checked.checked, declaration)
  try {
    const program = programOf(checked.checked, ['self'])
    const { value, cost } = program.run([declaration?.adapt(self?.value)], 1_000_000, newEffort())
    const divided = inSteps(program, [declaration?.adapt(self?.value)])
    assert.deepEqual([show(divided.value), divided.cost], [show(value), cost])
    return { text: show(value), cost, estimate }
  } catch (error) {
    if (error instanceof ProgramProblem) return { text: `program: ${error.message}`, estimate }
    if (error instanceof CostExceeded) return { text: error.message, estimate }
    throw error
  }
}
