import type { Informers } from '../../../framework/informer.ts'
import { applyJsonPatch, readJsonPatch } from '../../../framework/jsonpatch.ts'
import type { ClusterName, KubeObject } from '../../../framework/object.ts'
import type { Targets } from '../../../framework/targets.ts'
import type { AdmissionPlugin } from '../chain.ts'
import type { NamespaceLookup } from '../namespace-lifecycle.ts'
import type { Subject } from '../policies/matching.ts'
import { configurationsOf, policyClusters } from '../policies/source.ts'
import { type FindWebhooks, type Webhook, webhookFinder } from './configuration.ts'
import { type Answer, type AskWebhook, webhookClient, withCluster, withoutCluster } from './review.ts'

export interface WebhookAdmissionDeps {
  readonly informers: Informers
  readonly namespaceOf: NamespaceLookup
  /** Where webhooks may be. */
  readonly targets: Targets
}

/**
 * The webhooks of a workspace, and of an export about what is bound (chapter 20, section 5.10). The server's own writes
 * are not asked about.
 */
export function tenantWebhooks({
  informers,
  namespaceOf,
  targets,
}: WebhookAdmissionDeps): readonly AdmissionPlugin[] {
  const asking: Asking = { namespaceOf, ask: webhookClient(targets) }
  const finderOf = (resource: string): FindWebhooks =>
    webhookFinder({
      clusterOf: policyClusters(informers),
      configurations: configurationsOf(informers, resource),
      namespaceOf,
    })
  return [
    mutatingWebhooks(finderOf('mutatingwebhookconfigurations'), asking),
    validatingWebhooks(finderOf('validatingwebhookconfigurations'), asking),
  ]
}

interface Asking {
  readonly namespaceOf: NamespaceLookup
  readonly ask: AskWebhook
}

/** All are asked at once; the first that refuses, in their order, decides. */
const validatingWebhooks = (find: FindWebhooks, { namespaceOf, ask }: Asking): AdmissionPlugin => ({
  name: 'ValidatingAdmissionWebhook',
  async validate(ctx, request) {
    const subject: Subject = { ctx, request, namespaceOf }
    const answers = await Promise.allSettled(find(ctx, request).map(webhook => ask(webhook, subject, false)))
    for (const answer of answers) if (answer.status === 'rejected') throw answer.reason
  },
})

/** One after the other; those that want it are asked again when others have changed the object after them. */
const mutatingWebhooks = (find: FindWebhooks, { namespaceOf, ask }: Asking): AdmissionPlugin => ({
  name: 'MutatingAdmissionWebhook',
  async mutate(ctx, request) {
    const seen = new Map<Webhook, KubeObject>()
    let { object } = request
    for (const round of [0, 1]) {
      for (const webhook of find(ctx, { ...request, object })) {
        const again = webhook.reinvocationPolicy === 'IfNeeded' && seen.get(webhook) !== object
        if (round === 1 && seen.has(webhook) && !again) continue
        const subject: Subject = { ctx, request: { ...request, object }, namespaceOf }
        object = changed(await ask(webhook, subject, true), object, request.key.cluster)
        seen.set(webhook, object)
      }
    }
    return object
  },
})

function changed(answer: Answer | undefined, object: KubeObject, cluster: ClusterName): KubeObject {
  if (answer?.patch === undefined) return object
  const patched = applyJsonPatch(withCluster(object, cluster), readJsonPatch(answer.patch))
  return withoutCluster(patched as KubeObject)
}
