import { isDeepStrictEqual } from 'node:util'
import type { Backend } from '../../../framework/backend.ts'
import type { Informers } from '../../../framework/informer.ts'
import { applyJsonPatch, readJsonPatch } from '../../../framework/jsonpatch.ts'
import type { ClusterName, KubeObject } from '../../../framework/object.ts'
import type { Targets } from '../../../framework/targets.ts'
import type { AdmissionPlugin } from '../chain.ts'
import type { NamespaceLookup } from '../namespace-lifecycle.ts'
import type { Subject } from '../policies/matching.ts'
import { configurationsOf, policyClusters } from '../policies/source.ts'
import { type FindWebhooks, webhookFinder } from './configuration.ts'
import { type Answer, type AskWebhook, webhookClient, withCluster, withoutCluster } from './review.ts'
import { webhookRules } from './specrules.ts'

export interface WebhookAdmissionDeps {
  readonly informers: Informers
  readonly namespaceOf: NamespaceLookup
  readonly backend: Pick<Backend, 'authorizer'>
  /** Where webhooks may be. */
  readonly targets: Targets
}

/**
 * The webhooks of a workspace, and of an export about what is bound (chapter 20, section 5.10). The server's own writes
 * are not asked about.
 */
export function tenantWebhooks({ informers, namespaceOf, backend, targets }: WebhookAdmissionDeps): {
  readonly mutating: AdmissionPlugin
  readonly validating: readonly AdmissionPlugin[]
} {
  const asking: Asking = { namespaceOf, ask: webhookClient(targets) }
  const finderOf = (resource: string): FindWebhooks =>
    webhookFinder({
      clusterOf: policyClusters(informers),
      configurations: configurationsOf(informers, resource),
      namespaceOf,
      authorizer: backend.authorizer,
    })
  return {
    mutating: mutatingWebhooks(finderOf('mutatingwebhookconfigurations'), asking),
    validating: [webhookRules, validatingWebhooks(finderOf('validatingwebhookconfigurations'), asking)],
  }
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
    const answers = await Promise.allSettled(
      (await find(ctx, request)).map(({ webhook }) => ask(webhook, subject, false)),
    )
    for (const answer of answers) if (answer.status === 'rejected') throw answer.reason
  },
})

const mutatingName = 'MutatingAdmissionWebhook'

/** One after the other; those that want it are asked again when others have changed the object after them. */
const mutatingWebhooks = (find: FindWebhooks, { namespaceOf, ask }: Asking): AdmissionPlugin => ({
  name: mutatingName,
  async mutate(ctx, request, passes) {
    const revisits = passes.of(mutatingName)
    let { object } = request
    revisits.enter(object)
    for (const { webhook, uid } of await find(ctx, request)) {
      if (!revisits.asks(uid)) continue
      const subject: Subject = { ctx, request: { ...request, object }, namespaceOf }
      const next = changed(await ask(webhook, subject, true), object, request.key.cluster)
      const willing = webhook.reinvocationPolicy === 'IfNeeded'
      revisits.asked(uid, { changed: !isDeepStrictEqual(next, object), willing })
      object = next
    }
    revisits.leave(object)
    return object
  },
})

function changed(answer: Answer | undefined, object: KubeObject, cluster: ClusterName): KubeObject {
  if (answer?.patch === undefined) return object
  const patched = applyJsonPatch(withCluster(object, cluster), readJsonPatch(answer.patch))
  return withoutCluster(patched as KubeObject)
}
