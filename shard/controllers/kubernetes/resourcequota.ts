import { resources } from '../../../kcp/resources.ts'
import {
  countKey,
  countsFor,
  isCounting,
  isOfCluster,
  quantityOf,
  quotaIndex,
  type ResourceQuota,
} from '../../admission/kubernetes/resourcequota.ts'
import type { WatchCacheEvent } from '../../cache/item.ts'
import type { ResourceCache } from '../../cache/resource.ts'
import { updateStatus } from '../client.ts'
import type { Controller } from '../controller.ts'
import type { ShardHost } from '../host.ts'
import { createQueue } from '../queue.ts'

/**
 * Milliseconds after which a quota is recounted: writes that were admitted and then failed count, too, until then.
 */
const recount = 300_000

/** Updates the status of ResourceQuotas: the limits and the current use (`pkg/controller/resourcequota`). */
export function resourceQuotaController({ cache, client, informers, log }: ShardHost): Controller {
  const quotas = informers.for(resources.resourceQuotas)
  const quotasOf = quotaIndex(quotas)
  const queue = createQueue({ name: 'resourcequota', log, reconcile: key => count(key) })
  const count = async (key: string): Promise<void> => {
    const place = parseKey(key)
    const quota = quotas.get(place.cluster, place.namespace, place.name)?.object as ResourceQuota | undefined
    if (quota === undefined || quota.metadata.deletionTimestamp !== undefined) return
    await updateStatus<ResourceQuota>(client, resources.resourceQuotas, place, current => {
      const hard = current.spec?.hard ?? {}
      const counted = isCounting(current) ? Object.keys(hard).filter(name => name.startsWith('count/')) : []
      const counts = [...countsFor(cache, current, counted, place)]
      const used = Object.fromEntries(counts.map(([name, count]) => [name, quantityOf(count)]))
      const isIdle = Object.keys(hard).length === 0
      return { ...current, status: isIdle ? {} : { hard, used } }
    })
    queue.addAfter(key, recount)
  }
  const released = ({ resource }: ResourceCache, { type, item }: WatchCacheEvent): void => {
    if (type !== 'DELETED') return
    const name = countKey(resource.group, resource.resource)
    for (const quota of quotasOf(item))
      if ((quota.object as ResourceQuota).spec?.hard?.[name] !== undefined) queue.add(keyOf(quota.key))
  }
  return {
    name: 'resourcequota',
    idle: () => queue.idle(),
    async run(signal) {
      const stops = [
        cache.subscribe(released),
        quotas.onEvent(({ type, item, previous }) => {
          if (type !== 'DELETED' && !isOwnWrite(item.object, previous?.object)) queue.add(keyOf(item.key))
        }),
      ]
      await queue.run(signal)
      for (const stop of stops) stop()
    },
  }
}

/** Only the status changed: admission and this controller count themselves. */
const isOwnWrite = (now: ResourceQuota, before: ResourceQuota | undefined): boolean =>
  before !== undefined &&
  JSON.stringify(now.spec) === JSON.stringify(before.spec) &&
  isOfCluster(now) === isOfCluster(before)

interface Place {
  readonly cluster: string
  readonly namespace: string
  readonly name: string
}

const keyOf = ({ cluster, namespace, name }: Place): string => [cluster, namespace, name].join('|')

function parseKey(key: string): Place {
  const [cluster = '', namespace = '', name = ''] = key.split('|')
  return { cluster, namespace, name }
}
