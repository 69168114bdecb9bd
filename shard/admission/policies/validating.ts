import { forbidden, StatusError } from '../../../framework/errors.ts'
import type { Item } from '../../../framework/item.ts'
import { loopback } from '../../../framework/user.ts'
import { type AdmissionPlugin, refusedName, type ShardAdmissionRequest } from '../chain.ts'
import { type Denial, judge } from './decision.ts'
import { requestVariables, type Variables } from './evaluation.ts'
import { matchesResources, type Subject } from './matching.ts'
import { ConfigurationError, type FindParams } from './params.ts'
import { type BindingSpec, compilePolicy, type Policy } from './policy.ts'
import { isExempt, type PolicyCluster, perItem } from './source.ts'

export interface PolicyDeps {
  readonly clusterOf: PolicyCluster
  readonly policies: (cluster: string) => readonly Item[]
  readonly bindings: (cluster: string) => readonly Item[]
  readonly findParams: FindParams
  readonly namespaceOf: Subject['namespaceOf']
}

const codes: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
  Invalid: 422,
}

/**
 * ValidatingAdmissionPolicies and their bindings. The server's own writes are not asked about: no tenant may keep it from
 * deleting what is his.
 */
export function validatingPolicies(deps: PolicyDeps): AdmissionPlugin {
  const compiled = perItem(object => compilePolicy(object))
  return {
    name: 'ValidatingAdmissionPolicy',
    async validate(ctx, request) {
      if (ctx.actAs === loopback || isExempt(request)) return
      const cluster = deps.clusterOf(request)
      const policies = deps.policies(cluster)
      if (policies.length === 0) return
      const subject: Subject = { ctx, request, namespaceOf: deps.namespaceOf }
      const bindings = deps.bindings(cluster).map(({ object }) => object)
      const denials: string[] = []
      let reason = 'Invalid'
      const variables = requestVariables(subject)
      for (const item of policies) {
        const policy = compiled(item)
        if (!matchesResources(policy.spec.matchConstraints, subject)) continue
        for (const { metadata, spec } of bindings) {
          const binding = (spec ?? {}) as BindingSpec
          if (binding.policyName !== policy.name || !matchesResources(binding.matchResources, subject))
            continue
          const place: Place = { cluster, subject, variables, name: metadata.name ?? '' }
          for (const denial of await run(deps, policy, binding, place)) {
            if (denials.length === 0) reason = denial.reason
            denials.push(denialText(policy, place.name, denial))
          }
        }
      }
      if (denials[0] !== undefined) throw denied(request, denials[0], reason)
    },
  }
}

const denialText = ({ name }: Policy, binding: string, { message }: Denial): string =>
  `ValidatingAdmissionPolicy '${name}' with binding '${binding}' denied request: ${message}`

interface Place {
  readonly cluster: string
  readonly subject: Subject
  readonly variables: Variables
  /** Of the binding. */
  readonly name: string
}

/** What one binding denies; what it only warns of or notes is done here. */
async function run(
  deps: PolicyDeps,
  policy: Policy,
  binding: BindingSpec,
  place: Place,
): Promise<readonly Denial[]> {
  const { ctx } = place.subject
  const denials: Denial[] = []
  for (const params of await paramsOf(deps, policy, binding, place)) {
    if (typeof params === 'string') {
      denials.push({ message: `failed to configure binding: ${params}`, reason: 'Invalid', index: 0 })
      continue
    }
    const verdict = judge(policy, place.variables, params.object)
    for (const denial of verdict.denials) act(place, policy, binding, denial)
    if (binding.validationActions?.includes('Deny') === true) denials.push(...verdict.denials)
    for (const [key, value] of verdict.annotations) ctx.record.annotate(`${policy.name}/${key}`, value)
  }
  return denials
}

type Params = { readonly object: Awaited<ReturnType<FindParams>>[number] } | string

async function paramsOf(
  { findParams }: PolicyDeps,
  policy: Policy,
  binding: BindingSpec,
  { cluster, subject: { ctx, request } }: Place,
): Promise<readonly Params[]> {
  try {
    const found = await findParams(policy.spec, binding, { cluster, namespace: request.key.namespace, ctx })
    return found.map(object => ({ object }))
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return policy.spec.failurePolicy === 'Ignore' ? [] : [error.message]
  }
}

function act({ subject: { ctx }, name }: Place, policy: Policy, binding: BindingSpec, denial: Denial): void {
  const actions = binding.validationActions ?? []
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
function denied(request: ShardAdmissionRequest, message: string, reason: string): StatusError {
  const { group, resource } = request
  const { status } = forbidden({ group, resource, name: refusedName(request) }, message)
  const { message: text = message } = status
  const details = { ...status.details, causes: [{ message }] }
  return new StatusError(codes[reason] ?? 422, reason, text, details)
}
