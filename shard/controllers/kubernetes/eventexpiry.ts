import type { Informers } from '../../../framework/contract/informer.ts'
import type { Item } from '../../../framework/contract/item.ts'
import type { Logger } from '../../../framework/contract/log.ts'
import type { ObjectKey } from '../../../framework/meta/object.ts'
import { type ControllerClient, ifFound } from '../client.ts'
import { type Controller, createController } from '../controller.ts'

export interface EventExpiryDeps {
  readonly client: ControllerClient
  readonly informers: Informers
  readonly log: Logger
  /** Milliseconds. */
  readonly keep: number
}

const ref = { group: '', version: 'v1', resource: 'events' }

/** Clocks of servers and of the machines that send events may differ by so many milliseconds. */
const aDay = 86_400_000

/**
 * Deletes events some time after their last change (`--event-ttl`), measured since this server has seen the change, like the leases
 * of etcd, which begin again with a new leader: clocks that differ do not matter. An event that is older by a day is deleted
 * nevertheless, so that events end although servers do not run for that time.
 */
export function eventExpiryController({ client, informers, log, keep }: EventExpiryDeps): Controller {
  const events = informers.for(ref)
  const seen = new WeakMap<Item, number>()
  const leftOf = (item: Item): number => {
    const now = performance.now()
    const since = seen.get(item) ?? now
    seen.set(item, since)
    return keep + Math.min(since - now, lastHappened(item) + aDay - Date.now())
  }
  const reconcile = async (key: string): Promise<number | undefined> => {
    const place = parseKey(key)
    const item = events.get(place.cluster, place.namespace, place.name)
    if (item === undefined) return undefined
    const left = leftOf(item)
    if (left > 0) return left
    const { uid, resourceVersion } = item.meta
    await ifFound(client.delete(ref, place, { uid, resourceVersion }))
    return undefined
  }
  const sources = [{ informer: events, keys: ({ item }: { readonly item: Item }) => [keyOf(item.key)] }]
  return createController({ name: 'event-expiry', reconcile, sources }, log)
}

const keyOf = ({ cluster, namespace, name }: ObjectKey): string => [cluster, namespace, name].join('|')

function parseKey(key: string): ObjectKey {
  const [cluster = '', namespace = '', name = ''] = key.split('|')
  return { cluster, namespace, name }
}

/** Milliseconds since the epoch: the latest time that the event names. */
function lastHappened({ object }: Item): number {
  const { lastTimestamp, eventTime, series, metadata } = object
  const { lastObservedTime } = (series ?? {}) as { readonly lastObservedTime?: unknown }
  const times = [lastTimestamp, eventTime, lastObservedTime, metadata.creationTimestamp]
  return Math.max(...times.map(time => (typeof time === 'string' ? Date.parse(time) || 0 : 0)))
}
