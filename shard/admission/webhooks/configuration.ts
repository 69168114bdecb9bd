import type { Authorizer } from '../../../framework/authorizer.ts'
import type { Item } from '../../../framework/item.ts'
import type { KubeObject } from '../../../framework/object.ts'
import { loopback } from '../../../framework/user.ts'
import { admissionEnvironment } from '../../../openapi/cel/admission.ts'
import { compileExpression, type Expression } from '../../../openapi/cel/compiled.ts'
import { boolType } from '../../../openapi/cel/type.ts'
import { Decisions } from '../policies/decisions.ts'
import { conditionsHold, requestVariables, type Variables } from '../policies/evaluation.ts'
import {
  matchesRule,
  matchesSelectors,
  type Rule,
  type Selectors,
  type Subject,
} from '../policies/matching.ts'
import { isExempt, type PolicyCluster, perItem } from '../policies/source.ts'
import { failedCall } from './failure.ts'

/** One webhook of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration. */
export interface Webhook extends Selectors {
  readonly name: string
  readonly clientConfig: { readonly url?: string; readonly service?: object; readonly caBundle?: string }
  readonly rules?: readonly Rule[]
  readonly matchConditions?: readonly { readonly expression: string }[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly sideEffects?: string
  readonly timeoutSeconds?: number
  readonly admissionReviewVersions?: readonly string[]
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
}

/** A webhook that wants to see a write. */
export interface FoundWebhook {
  readonly webhook: Webhook
  /** Unlike those of all others of its logical cluster. */
  readonly uid: string
}

/** A webhook with its conditions compiled. */
export interface Prepared extends FoundWebhook {
  readonly conditions: readonly Expression[]
}

export interface WebhookDeps {
  readonly clusterOf: PolicyCluster
  readonly configurations: (cluster: string) => readonly Item[]
  readonly namespaceOf: Subject['namespaceOf']
  readonly authorizer: Authorizer
}

/** Finds the webhooks that want to see a write, in the order in which they are asked. */
export type FindWebhooks = (
  ctx: Subject['ctx'],
  request: Subject['request'],
) => Promise<readonly FoundWebhook[]>

export function webhookFinder(deps: WebhookDeps): FindWebhooks {
  const prepared = perItem(prepare)
  return async (ctx, request) => {
    if (ctx.actAs === loopback || isExempt(request)) return []
    const configurations = deps.configurations(deps.clusterOf(request))
    if (configurations.length === 0) return []
    const subject: Subject = { ctx, request, namespaceOf: deps.namespaceOf }
    const found = configurations.flatMap(prepared).filter(({ webhook }) => matches(webhook, subject))
    if (found.every(({ conditions }) => conditions.length === 0)) return found
    const decisions = new Decisions(deps.authorizer, subject)
    const variables = { ...requestVariables(subject), ...decisions.variables }
    return decisions.settled(() =>
      found.filter(({ webhook, conditions }) => wanted(webhook, conditions, variables)),
    )
  }
}

const environment = admissionEnvironment({ params: false, variables: new Map() })

export const prepare = (object: KubeObject): readonly Prepared[] =>
  ((object.webhooks ?? []) as readonly Webhook[]).map((webhook, i) => ({
    webhook,
    uid: `${object.metadata.name}/${webhook.name}/${i}`,
    conditions: (webhook.matchConditions ?? []).map(({ expression }) =>
      compileExpression(expression, environment, [boolType]),
    ),
  }))

const matches = (webhook: Webhook, subject: Subject): boolean =>
  (webhook.rules ?? []).some(rule => matchesRule(rule, subject, webhook.matchPolicy)) &&
  matchesSelectors(webhook, subject)

function wanted(webhook: Webhook, conditions: readonly Expression[], variables: Variables): boolean {
  const result = conditionsHold(conditions, variables)
  if ('holds' in result) return result.holds
  if (webhook.failurePolicy === 'Ignore') return false
  throw failedCall(webhook.name, result.error)
}
