import { unlimited } from '../../cel/values/range.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { forbidden } from '../../framework/meta/fielderror.ts'

/** What one rule, and all rules of a schema, may cost by estimate (chapter 40, rule 7.38). */
const ruleLimit = 10_000_000
const schemaLimit = 100_000_000

/** The costs of the rules of a schema, as far as they have been looked at. */
export interface RuleCosts {
  total: number
  readonly expensive: { readonly path: string; readonly cost: number }[]
}

export const newCosts = (): RuleCosts => ({ total: 0, expensive: [] })

/** Counts what an expression costs; an error when that is too much for one. */
export function countCost(costs: RuleCosts, path: string, cost: number, name: string): readonly FieldError[] {
  costs.total = Math.min(costs.total + cost, unlimited)
  if (cost >= schemaLimit / 100) {
    costs.expensive.push({ path, cost })
    costs.expensive.sort((a, b) => b.cost - a.cost)
    costs.expensive.length = Math.min(costs.expensive.length, 4)
  }
  return cost > ruleLimit ? [forbidden(path, tooExpensive(name, cost / ruleLimit))] : []
}

/** An error, and those that contribute to it, when all rules together cost too much. */
export function totalErrors({ total, expensive }: RuleCosts, path: string): readonly FieldError[] {
  if (total <= schemaLimit) return []
  const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
  const text = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
  return [
    ...expensive.map(({ path: rule }) => forbidden(rule, text)),
    forbidden(path, tooExpensive(name, total / schemaLimit)),
  ]
}

function tooExpensive(name: string, factor: number): string {
  const times = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`
  const advice =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared'
  return `${name} exceeds budget by factor of ${times} (${advice})`
}
