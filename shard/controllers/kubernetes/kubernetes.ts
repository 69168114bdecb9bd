import { after, promised } from '../../../framework/async/awaitable.ts'
import { loopbackContext } from '../../../framework/contract/loopback.ts'
import type { ResourcesOf } from '../../apis/served.ts'
import { ifFound } from '../client.ts'
import type { Controller } from '../controller.ts'
import type { ShardHost, ShardOptions } from '../host.ts'
import { aggregationController } from './clusterroleaggregation.ts'
import { type DefinitionControllerDeps, definitionController } from './customresourcedefinition.ts'
import { eventExpiryController } from './eventexpiry.ts'
import { garbageCollector } from './garbagecollector.ts'
import { namespaceController } from './namespace.ts'
import type { Read } from './ownerreferences.ts'
import { policyStatusController } from './policystatus.ts'
import { resourceQuotaController } from './resourcequota.ts'

const anHour = 3_600_000

export interface KubernetesOptions
  extends Pick<ShardOptions, 'eventTtl'>,
    Pick<DefinitionControllerDeps, 'clientOver'> {
  readonly resourcesOf: ResourcesOf
  readonly signal: AbortSignal
}

/** The controllers of plain Kubernetes. */
export function kubernetesControllers(
  host: ShardHost,
  { resourcesOf, clientOver, signal, eventTtl = anHour }: KubernetesOptions,
): readonly Controller[] {
  const { backend, cache, client, content, informers, log } = host
  const { apis } = backend
  const read: Read = ({ group, version, names, storage }, key) => {
    const resource = { group, version, resource: names.plural }
    const ctx = loopbackContext({ verb: 'get', resource, cluster: key.cluster, signal, log })
    return ifFound(promised(() => after(storage.get(ctx, key), item => item.object)))
  }
  return [
    definitionController({ client, content, informers, resourcesOf, clientOver, log }),
    namespaceController({ client, content, informers, apis, log }),
    aggregationController({ client, informers, log }),
    ...(eventTtl === 0 ? [] : [eventExpiryController({ client, informers, log, keep: eventTtl })]),
    resourceQuotaController(host),
    policyStatusController({ client, informers, apis, log }),
    garbageCollector({ cache, client, apis, read, log }),
  ]
}
