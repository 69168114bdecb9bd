import {
  type AdmissionAttributes,
  type AdmissionPlugin,
  refusedName,
} from '../../../framework/contract/admission.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import { forbidden, StatusError } from '../../../framework/meta/errors.ts'
import { type Denial, judge, type Verdict } from './decision.ts'
import { Decisions } from './authorizervariables.ts'
import { requestVariables, type Variables } from './evaluation.ts'
import { type Bound, type Invocation, invocationFinder, isStrict, type PolicyDeps } from './invocations.ts'
import { type Subject, subjectIn } from './matching.ts'

const codes: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
  Invalid: 422,
}

/** ValidatingAdmissionPolicies and their bindings. */
export function validatingPolicies(deps: PolicyDeps): AdmissionPlugin {
  const find = invocationFinder(deps)
  return {
    name: 'ValidatingAdmissionPolicy',
    async validate(ctx, request) {
      const subject: Subject = { ctx, request, namespaceOf: deps.namespaceOf }
      const invocations = await find(subject)
      if (invocations.length === 0) return
      const decisions = new Decisions(deps.authorizer, subject)
      const denials: Refused[] = []
      for (const invocation of invocations) {
        const seen = await subjectIn(subject, invocation.version)
        const variables = { ...requestVariables(seen), ...decisions.variables }
        const verdict = await decisions.settled(() => verdictOf(variables, invocation))
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

/** undefined: the policy could not be run. */
const verdictOf = (variables: Variables, invocation: Invocation): Verdict | undefined =>
  'misconfigured' in invocation ? undefined : judge(invocation.policy, variables, invocation.params)

/** What one binding denies; what it only warns of or notes is done here. */
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

/** 403 in its words, with the code and the reason that the policy wants. */
function denied(request: AdmissionAttributes, message: string, reason: string): StatusError {
  const { group, resource } = request
  const { status } = forbidden({ group, resource, name: refusedName(request) }, message)
  const { message: text = message } = status
  const details = { ...status.details, causes: [{ message }] }
  return new StatusError(codes[reason] ?? 422, reason, text, details)
}
