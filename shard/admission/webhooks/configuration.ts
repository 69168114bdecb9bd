import { type CompiledExpression, compileExpression } from '../../../cel/compiled.ts'
import type { Replays } from '../../../cel/planner/replay.ts'
import { boolType } from '../../../cel/values/type.ts'
import type { Authorizer } from '../../../framework/contract/authorizer.ts'
import { forbidden } from '../../../framework/meta/errors.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { loopback } from '../../../framework/request/user.ts'
import type { WebhookService } from '../../../openapi/crd/conversion.ts'
import { admissionEnvironment } from '../../../openapi/expressions/admission.ts'
import { Decisions } from '../policies/authorizervariables.ts'
import { conditionsHold, requestVariables, type Variables } from '../policies/evaluation.ts'
import {
  type MatchSelectors,
  matchedVersion,
  matchesSelectors,
  type Rule,
  type Subject,
  subjectFor,
  subjectIn,
} from '../policies/matching.ts'
import { each } from '../policies/policy.ts'
import { type Configurations, isExempt, ofAll, type PolicyCluster, perItem } from '../policies/source.ts'

/** One webhook of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration. */
export interface Webhook extends MatchSelectors {
  readonly name: string
  readonly clientConfig: {
    readonly url?: string
    readonly service?: WebhookService
    readonly caBundle?: string
  }
  readonly rules?: readonly Rule[]
  readonly matchConditions?: readonly { readonly name?: string; readonly expression: string }[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly sideEffects?: string
  readonly timeoutSeconds?: number
  readonly admissionReviewVersions?: readonly string[]
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
}

/** A webhook with its conditions compiled. */
export interface Prepared {
  readonly webhook: Webhook
  /** Unique in its logical cluster. */
  readonly uid: string
  readonly conditions: readonly CompiledExpression[]
}

export interface WebhookDeps {
  readonly policyClusterOf: PolicyCluster
  readonly configurations: Configurations
  readonly namespaceOf: Subject['namespaceOf']
  readonly authorizer: Authorizer
}

/** The webhooks that may match a write. */
export interface Candidates {
  /** In the order of their calls. */
  readonly webhooks: readonly Prepared[]
  readonly subject: Subject
  /** The write in the version of the webhook's rules; undefined: the webhook does not match. */
  seen(candidate: Prepared, subject: Subject): Promise<Subject | undefined>
}

export type FindWebhooks = (ctx: Subject['ctx'], request: Subject['request']) => Promise<Candidates>

export function webhookFinder(deps: WebhookDeps): FindWebhooks {
  const prepared = perItem(prepare)
  return async (ctx, request) => {
    const isAsked = ctx.actAs !== loopback && !isExempt(request)
    const cluster = deps.policyClusterOf(request)
    const configurations = isAsked ? (deps.configurations.get(cluster) ?? []) : []
    const subject = subjectFor(cluster, ctx, request, deps.namespaceOf)
    const decisions = new Decisions(deps.authorizer, subject)
    return {
      webhooks: (await ofAll(configurations, prepared)).flat(),
      subject,
      async seen({ webhook, conditions }, current) {
        if (!matchesSelectors(webhook, current)) return undefined
        const version = matchedVersion(webhook.rules ?? [], current, webhook.matchPolicy)
        if (version === undefined) return undefined
        const seen = await subjectIn(current, version)
        if (conditions.length === 0) return seen
        const variables = { ...requestVariables(seen), ...decisions.variables }
        return (await decisions.settled(replays => wanted(seen, { webhook, conditions, variables }, replays)))
          ? seen
          : undefined
      },
    }
  }
}

const environment = admissionEnvironment({ params: false, variables: new Map() })

/** The webhooks of a configuration, in steps. */
export const prepare = ({ metadata, webhooks }: KubeObject): Generator<void, readonly Prepared[]> =>
  each((webhooks ?? []) as readonly Webhook[], function* (webhook, i) {
    const conditions = yield* each(webhook.matchConditions, ({ expression }) =>
      compileExpression(expression, environment, [boolType]),
    )
    return { webhook, uid: `${metadata.name}/${webhook.name}/${i}`, conditions }
  })

interface Asked {
  readonly webhook: Webhook
  readonly conditions: readonly CompiledExpression[]
  readonly variables: Variables
}

/** Throws 403 when the conditions cannot be evaluated and the failure policy is `Fail`. */
function wanted(
  { request: { group, resource, key } }: Subject,
  { webhook, conditions, variables }: Asked,
  replays: Replays,
): boolean {
  const result = conditionsHold(conditions, variables, replays)
  if ('holds' in result) return result.holds
  if (webhook.failurePolicy === 'Ignore') return false
  throw forbidden({ group, resource, name: key.name }, result.error)
}
