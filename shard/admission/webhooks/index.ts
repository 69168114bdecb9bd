import { inTurns, Pace } from '../../../framework/async/awaitable.ts'
import type { AdmissionPlugin, WriteAttributes } from '../../../framework/contract/admission.ts'
import type { Backend } from '../../../framework/contract/backend.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import { Work } from '../../../framework/json/json.ts'
import { sameJsonSteps } from '../../../framework/json/same.ts'
import { type KubeObject, versionIn } from '../../../framework/meta/object.ts'
import type { AddressPolicy } from '../../../framework/net/addresspolicy.ts'
import { applyJsonPatchSteps, readJsonPatch } from '../../../framework/patch/jsonpatch.ts'
import type { NamespaceLookup } from '../kubernetes/namespace-lifecycle.ts'
import { decodedResult, MalformedResult } from '../patched.ts'
import { configurationsOf, configured, type PolicyCluster } from '../policies/source.ts'
import { type FindWebhooks, webhookFinder } from './configuration.ts'
import { withCluster, withoutCluster } from './objecttexts.ts'
import { outcomes } from './outcomes.ts'
import { type AskWebhook, malformed, nothingToPatch, type WebhookResponse, webhookClient } from './review.ts'
import { webhookRules } from './specrules.ts'

export interface WebhookAdmissionDeps {
  readonly informers: Informers
  readonly policyClusterOf: PolicyCluster
  readonly namespaceOf: NamespaceLookup
  readonly backend: Pick<Backend, 'authorizer'>
  /** Allowed addresses of webhooks. */
  readonly addresses: AddressPolicy
}

/**
 * The webhooks of a workspace, and those of an export for its bound resources. They are not called for writes of
 * the server itself.
 */
export function tenantWebhooks(deps: WebhookAdmissionDeps): {
  readonly mutating: AdmissionPlugin
  readonly validating: readonly AdmissionPlugin[]
} {
  const { informers, policyClusterOf, namespaceOf, backend } = deps
  const ask = webhookClient(deps.addresses)
  const pluginOf = (resource: string, make: typeof mutatingWebhooks): AdmissionPlugin => {
    const configurations = configurationsOf(informers, resource)
    const find = webhookFinder({
      policyClusterOf,
      configurations,
      namespaceOf,
      authorizer: backend.authorizer,
    })
    return { ...make(find, ask), handles: { when: configured(policyClusterOf, configurations) } }
  }
  return {
    mutating: pluginOf('mutatingwebhookconfigurations', mutatingWebhooks),
    validating: [webhookRules, pluginOf('validatingwebhookconfigurations', validatingWebhooks)],
  }
}

/** The first rejection in their order is returned. */
const validatingWebhooks = (find: FindWebhooks, ask: AskWebhook): AdmissionPlugin => ({
  name: 'ValidatingAdmissionWebhook',
  async validate(ctx, request) {
    const { webhooks, subject, seen } = await find(ctx, request)
    const subjects = await outcomes(webhooks, candidate => seen(candidate, subject))
    const calls = subjects.flatMap((of, i) =>
      of && webhooks[i] ? [{ of, webhook: webhooks[i].webhook }] : [],
    )
    await outcomes(calls, ({ webhook, of }) => ask('validating', webhook, of))
  },
})

const mutatingName = 'MutatingAdmissionWebhook'

/**
 * Called one after another; those with reinvocation policy `IfNeeded` are called again when later webhooks changed
 * the object.
 */
const mutatingWebhooks = (find: FindWebhooks, ask: AskWebhook): AdmissionPlugin => ({
  name: mutatingName,
  async mutate(ctx, request, reinvocation) {
    const hooks = reinvocation.of(mutatingName)
    hooks.enter(request.object)
    const { webhooks, subject, seen } = await find(ctx, request)
    let latest = request.object
    let isChanged = false
    for (const candidate of webhooks) {
      const { webhook, uid } = candidate
      const shown = await seen(candidate, { ...subject, request: { ...request, object: latest } })
      const before = shown?.request.object
      if (shown === undefined || before === undefined || !hooks.asks(uid)) continue
      const answer = await ask('mutating', webhook, shown)
      latest = await changed(answer, before, { request, webhook: webhook.name })
      const hasChanged = !(await inTurns(sameJsonSteps(latest, before, new Work()), new Pace()))
      hooks.asked(uid, { changed: hasChanged, willing: webhook.reinvocationPolicy === 'IfNeeded' })
      isChanged ||= hasChanged
    }
    const object = isChanged ? await convertedBack(latest, request) : request.object
    hooks.leave(object)
    return object
  },
  async admitDeletion(ctx, request) {
    const { webhooks, subject, seen } = await find(ctx, request)
    for (const candidate of webhooks) {
      const { webhook } = candidate
      const shown = await seen(candidate, subject)
      const answer = shown && (await ask('mutating', webhook, shown))
      if (answer?.patch !== undefined && readJsonPatch(answer.patch).operations.length > 0)
        throw nothingToPatch(webhook.name)
    }
  },
})

/** The patched object, converted to the version of the write. */
const convertedBack = (latest: KubeObject, { object, versions }: WriteAttributes): Promise<KubeObject> =>
  versions.convert(latest, versionIn(object.apiVersion))

async function changed(
  answer: WebhookResponse | undefined,
  object: KubeObject,
  { request, webhook }: { readonly request: WriteAttributes; readonly webhook: string },
): Promise<KubeObject> {
  if (answer?.patch === undefined) return object
  const pace = new Pace()
  const { key, versions } = request
  const steps = applyJsonPatchSteps(withCluster(object, key.cluster), readJsonPatch(answer.patch))
  const result = {
    object: await inTurns(steps, pace),
    before: object,
    versions,
    who: `the webhook ${webhook}`,
  }
  return withoutCluster(
    await decodedResult(result, pace).catch(error => {
      throw error instanceof MalformedResult ? malformed(webhook, error.message) : error
    }),
  )
}
