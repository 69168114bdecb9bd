import { inTurns, Pace } from '../../../framework/async/awaitable.ts'
import type { Backend } from '../../../framework/contract/backend.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import type { Logger } from '../../../framework/contract/log.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { typeWarnings } from '../../admission/policies/typechecking.ts'
import { type ControllerClient, clusterScoped, updateStatus } from '../client.ts'
import { type Controller, createController, keyOf, parseKey } from '../controller.ts'

const ref = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicies',
}

interface Policy extends KubeObject {
  readonly status?: { readonly observedGeneration?: number; readonly typeChecking?: object }
}

export interface PolicyStatusDeps {
  readonly client: ControllerClient
  readonly informers: Informers
  readonly apis: Backend['apis']
  readonly log: Logger
}

/**
 * Writes `status.typeChecking` of ValidatingAdmissionPolicies (`pkg/controller/validatingadmissionpolicystatus`).
 */
export function policyStatusController({ client, informers, apis, log }: PolicyStatusDeps): Controller {
  const informer = informers.for(ref)
  const definition = {
    name: 'validatingadmissionpolicy-status',
    sources: [
      { informer, keys: ({ item }: { readonly item: Parameters<typeof keyOf>[0] }) => [keyOf(item)] },
    ],
    reconcile: async (key: string): Promise<undefined> => {
      const { cluster, name } = parseKey(key)
      const policy = informer.get(cluster, '', name)?.object as Policy | undefined
      const generation = policy?.metadata.generation ?? 0
      if (policy === undefined || generation <= (policy.status?.observedGeneration ?? 0)) return
      const warnings = await inTurns(typeWarnings(policy, apis(cluster)?.resources ?? []), new Pace())
      const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: warnings }
      await updateStatus<Policy>(client, ref, clusterScoped(cluster, name), current => ({
        ...current,
        status: { ...current.status, observedGeneration: generation, typeChecking },
      }))
    },
  }
  return createController(definition, log)
}
