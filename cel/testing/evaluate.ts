import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { check } from '../checker/check.ts'
import { environment } from '../checker/environment.ts'
import { estimateCost } from '../cost/estimate.ts'
import type { Estimate } from '../cost/estimatesize.ts'
import { ProgramProblem } from '../planner/plan.ts'
import { programOf } from '../planner/program.ts'
import { declarationOf } from '../schema/schematype.ts'
import { CostExceeded, newEffort } from '../values/costtracker.ts'
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

/** Values, errors and costs of an expression. */
export function evaluate(source: string, self?: Self): Evaluated {
  const declaration = self === undefined ? undefined : declarationOf(self.schema, false)
  const env = environment(declaration === undefined ? {} : { self: declaration.type }, name =>
    declaration?.struct(name),
  )
  const checked = check(source, env)
  if ('issues' in checked) return { text: checked.issues }
  const estimate = estimateCost(checked.checked, declaration)
  try {
    const program = programOf(checked.checked, ['self'])
    const { value, cost } = program.run([declaration?.adapt(self?.value)], 1_000_000, newEffort())
    return { text: show(value), cost, estimate }
  } catch (error) {
    if (error instanceof ProgramProblem) return { text: `program: ${error.message}`, estimate }
    if (error instanceof CostExceeded) return { text: error.message, estimate }
    throw error
  }
}
