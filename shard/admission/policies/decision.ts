import type { CostBudget } from '../../../cel/compiled.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import {
  asVariable,
  conditionsHold,
  evaluated,
  newAllowance,
  type Variables,
  withPolicyVariables,
} from './evaluation.ts'
import { isStrict } from './invocations.ts'
import type { Policy } from './policy.ts'

/** What speaks against a write. */
export interface Denial {
  readonly message: string
  readonly reason: string
  /** Which of the policy's validations it was. */
  readonly index: number
}

export interface Verdict {
  readonly denials: readonly Denial[]
  /** Values of the policy's audit annotations by key. */
  readonly annotations: readonly (readonly [key: string, value: string])[]
}

const nothing: Verdict = { denials: [], annotations: [] }

/** An error is a denial, unless the policy wants errors to be ignored. */
const failed = (policy: Policy, message: string, index = 0): readonly Denial[] =>
  isStrict(policy) ? [{ message, reason: 'Invalid', index }] : []

/** What a validating policy says of a request with one set of parameters. */
export function judge(policy: Policy, request: Variables, params: KubeObject | undefined): Verdict {
  const variables = { ...request, params: asVariable(params) }
  const conditions = conditionsHold(policy.conditions, variables)
  if ('error' in conditions) return { ...nothing, denials: failed(policy, conditions.error) }
  if (!conditions.holds) return nothing
  const allowance = newAllowance()
  const all = withPolicyVariables(policy, variables, allowance)
  const denials = policy.validations.flatMap((_, index) => validationDenials(policy, index, all, allowance))
  return annotationsOf(policy, all, denials)
}

function validationDenials(
  policy: Policy,
  index: number,
  variables: Variables,
  allowance: CostBudget,
): readonly Denial[] {
  const item = policy.validations[index]
  if (item === undefined) return []
  const { validation, expression, message } = item
  const result = evaluated(expression, variables, allowance)
  if ('error' in result) return failed(policy, result.error, index)
  if (result.value === true) return []
  const made = message === undefined ? undefined : evaluated(message, variables, allowance)
  const text = made !== undefined && 'value' in made ? goodMessage(made.value) : ''
  const plain = validation.message?.trim() || `failed expression: ${validation.expression.trim()}`
  return [{ message: text || plain, reason: validation.reason ?? 'Invalid', index }]
}

const maxMessage = 5 * 1024

function goodMessage(value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : ''
  return text.includes('\n') || Buffer.byteLength(text) > maxMessage ? '' : text
}

const maxAnnotation = 10 * 1024

function annotationsOf(policy: Policy, variables: Variables, denials: readonly Denial[]): Verdict {
  const allowance = newAllowance()
  const annotations: (readonly [string, string])[] = []
  const wrong: Denial[] = []
  for (const { key, expression } of policy.annotations) {
    const result = evaluated(expression, variables, allowance)
    if ('error' in result) wrong.push(...failed(policy, result.error))
    else if (typeof result.value === 'string' && result.value.trim() !== '')
      annotations.push([key, result.value.trim().slice(0, maxAnnotation)])
  }
  return { denials: [...denials, ...wrong], annotations }
}
