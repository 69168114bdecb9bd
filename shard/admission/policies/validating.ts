import type { CostBudget } from '../../../cel/compiled.ts'
import {
  type AdmissionAttributes,
  type AdmissionPlugin,
  refusedName,
} from '../../../framework/contract/admission.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import type { Item } from '../../../framework/contract/item.ts'
import { forbidden, StatusError } from '../../../framework/meta/errors.ts'
import type { Decisions } from './authorizervariables.ts'
import {
  asVariable,
  conditionsHold,
  evaluated,
  newAllowance,
  requestVariables,
  type Variables,
  withPolicyVariables,
} from './evaluation.ts'
import {
  type Bound,
  decodedParams,
  type Invocation,
  invocationFinder,
  isStrict,
  type PolicyDeps,
} from './invocations.ts'
import { subjectIn } from './matching.ts'

import type { Policy } from './policy.ts'

const codes: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
  Invalid: 422,
}

/** ValidatingAdmissionPolicies and their bindings (`pkg/admission/plugin/policy/validating`). */
export function validatingPolicies(deps: PolicyDeps): AdmissionPlugin {
  const find = invocationFinder(deps)
  return {
    name: 'ValidatingAdmissionPolicy',
    async validate(ctx, request) {
      const { subject, invocations, decisions } = await find(ctx, request)
      const denials: Refused[] = []
      for (const invocation of invocations) {
        const seen = await subjectIn(subject, invocation.version)
        const variables = { ...requestVariables(seen), ...decisions.variables }
        const verdict = await verdictOf(variables, invocation, decisions)
        denials.push(...denialsOf(ctx, invocation, verdict).map(denial => ({ invocation, denial })))
      }
      const [first] = denials
      if (first !== undefined) throw denied(request, denialText(first), first.denial.reason)
    },
  }
}

interface Refused {
  readonly invocation: Invocation
  readonly denial: Denial
}

const denialText = ({ invocation: { policy, name }, denial: { message } }: Refused): string =>
  `ValidatingAdmissionPolicy '${policy.name}' with binding '${name}' denied request: ${message}`

/** undefined: the policy has a configuration error. */
const verdictOf = async (
  variables: Variables,
  invocation: Invocation,
  decisions: Decisions,
): Promise<Verdict | undefined> =>
  'misconfigured' in invocation
    ? undefined
    : judge({ policy: invocation.policy, decisions }, variables, invocation.params)

/** A policy that is evaluated for a request. */
interface Judging {
  readonly policy: Policy
  readonly decisions: Decisions
}

/** The denials of a binding with the action `Deny`; the actions `Warn` and `Audit` are done here. */
function denialsOf(
  ctx: RequestContext,
  invocation: Invocation,
  verdict: Verdict | undefined,
): readonly Denial[] {
  const { policy, spec } = invocation
  if ('misconfigured' in invocation || verdict === undefined) return misconfigured(invocation)
  const { denials, annotations } = verdict
  for (const denial of denials) act(ctx, invocation, denial)
  for (const [key, value] of annotations) ctx.record.annotate(`${policy.name}/${key}`, value)
  return spec.validationActions?.includes('Deny') === true ? denials : []
}

const misconfigured = (invocation: Invocation): readonly Denial[] =>
  'misconfigured' in invocation && isStrict(invocation.policy)
    ? [{ message: invocation.misconfigured, reason: 'Invalid', index: 0 }]
    : []

function act(ctx: RequestContext, { policy, name, spec }: Bound, denial: Denial): void {
  const actions = spec.validationActions ?? []
  if (actions.includes('Warn'))
    ctx.record.warn(
      `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${name}': ${denial.message}`,
    )
  if (!actions.includes('Audit')) return
  const failure = {
    message: denial.message,
    policy: policy.name,
    binding: name,
    expressionIndex: denial.index,
    validationActions: actions,
  }
  ctx.record.annotate('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]))
}

/** The message of 403, with the code and reason of the policy. */
function denied(request: AdmissionAttributes, message: string, reason: string): StatusError {
  const { group, resource } = request
  const { status } = forbidden({ group, resource, name: refusedName(request) }, message)
  const { message: text = message } = status
  const details = { ...status.details, causes: [{ message }] }
  return new StatusError(codes[reason] ?? 422, reason, text, details)
}

/** A denial. */
interface Denial {
  readonly message: string
  readonly reason: string
  /** The index of the validation. */
  readonly index: number
}

interface Verdict {
  readonly denials: readonly Denial[]
  /** Values of the policy's audit annotations by key. */
  readonly annotations: readonly (readonly [key: string, value: string])[]
}

const nothing: Verdict = { denials: [], annotations: [] }

/** An error is a denial, unless the failure policy is `Ignore`. */
const failed = (policy: Policy, message: string, index = 0): readonly Denial[] =>
  isStrict(policy) ? [{ message, reason: 'Invalid', index }] : []

/** Evaluates a policy with one set of parameters, one expression at a time. */
async function judge(judging: Judging, request: Variables, params: Item | undefined): Promise<Verdict> {
  const { policy, decisions } = judging
  const variables = { ...request, params: asVariable(await decodedParams(params)) }
  const conditions = await decisions.settled(replays => conditionsHold(policy.conditions, variables, replays))
  if ('error' in conditions) return { ...nothing, denials: failed(policy, conditions.error) }
  if (!conditions.holds) return nothing
  const allowance = newAllowance(decisions.newReplays())
  const all = withPolicyVariables(policy, variables, allowance)
  const denials: Denial[] = []
  for (const index of policy.validations.keys())
    denials.push(...(await validationDenials(judging, index, all, allowance)))
  return annotationsOf(judging, all, denials)
}

async function validationDenials(
  { policy, decisions }: Judging,
  index: number,
  variables: Variables,
  allowance: CostBudget,
): Promise<readonly Denial[]> {
  const item = policy.validations[index]
  if (item === undefined) return []
  const { validation, expression, message } = item
  const result = await decisions.settled(() => evaluated(expression, variables, allowance))
  if ('error' in result) return failed(policy, result.error, index)
  if (result.value === true) return []
  const made = message && (await decisions.settled(() => evaluated(message, variables, allowance)))
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

async function annotationsOf(
  { policy, decisions }: Judging,
  variables: Variables,
  denials: readonly Denial[],
): Promise<Verdict> {
  const allowance = newAllowance(decisions.newReplays())
  const annotations: (readonly [string, string])[] = []
  const wrong: Denial[] = []
  for (const { key, expression } of policy.annotations) {
    const result = await decisions.settled(() => evaluated(expression, variables, allowance))
    if ('error' in result) wrong.push(...failed(policy, result.error))
    else if (typeof result.value === 'string' && result.value.trim() !== '')
      annotations.push([key, result.value.trim().slice(0, maxAnnotation)])
  }
  return { denials: [...denials, ...wrong], annotations }
}
