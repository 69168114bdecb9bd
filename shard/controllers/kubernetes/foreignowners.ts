import { LRUCache } from 'lru-cache'
import { Pace } from '../../../framework/async/awaitable.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import {
  type ClusterName,
  type KubeObject,
  type OwnerReference,
  timestamp,
} from '../../../framework/meta/object.ts'
import type { WatchCache } from '../../cache/contract.ts'
import type { ControllerClient } from '../client.ts'

const events: ResourceRef = { group: '', version: 'v1', resource: 'events' }

/** How long the namespaces of a logical cluster's objects are kept, in milliseconds: a scan costs as much as a list. */
const kept = 1_000
const mostClusters = 16

/**
 * Warns of owners in another namespace by events (`reportInvalidNamespaceOwnerRef` of `pkg/controller/garbagecollector`).
 * Owners that are younger than the last scan may be missed: the object is deleted without a warning.
 */
export class ForeignOwners {
  readonly #cache: WatchCache
  readonly #client: ControllerClient
  /** By logical cluster: the namespaces of namespaced objects, by uid. */
  readonly #known = new LRUCache<ClusterName, Promise<ReadonlyMap<string, string>>>({
    max: mostClusters,
    ttl: kept,
    ttlAutopurge: true,
  })

  constructor({ cache, client }: { readonly cache: WatchCache; readonly client: ControllerClient }) {
    this.#cache = cache
    this.#client = client
  }

  /** Warns if one of these absent owners exists in another namespace. */
  async report(cluster: ClusterName, object: KubeObject, absent: readonly OwnerReference[]): Promise<void> {
    if (absent.length === 0) return
    const { namespace = '' } = object.metadata
    const namespaces = await this.#namespaces(cluster)
    const foreign = absent.find(({ uid }) => {
      const found = namespaces.get(uid)
      return found !== undefined && found !== namespace
    })
    if (foreign !== undefined) await this.#warn(cluster, object, foreign)
  }

  #namespaces(cluster: ClusterName): Promise<ReadonlyMap<string, string>> {
    const known = this.#known.get(cluster)
    if (known !== undefined) return known
    const found = this.#scan(cluster)
    this.#known.set(cluster, found)
    return found
  }

  /** Other requests have their turns between the objects. */
  async #scan(cluster: ClusterName): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    const pace = new Pace()
    for (const each of this.#cache.resources())
      for (const { namespace, uid } of each.items(cluster)) {
        if (namespace !== '') found.set(uid, namespace)
        const wait = pace.due()
        if (wait !== undefined) await wait
      }
    return found
  }

  async #warn(cluster: ClusterName, object: KubeObject, owner: OwnerReference): Promise<void> {
    const event = eventOf(object, owner)
    const { name = '', namespace = '' } = event.metadata
    try {
      await this.#client.create(events, { cluster, namespace, name }, event)
    } catch (error) {
      // The namespace of the object may be gone, or a quota be exceeded: then there is no event.
      if (!(error instanceof StatusError)) throw error
    }
  }
}

const nanosPerMilli = 1_000_000n

/** As `record.EventRecorder` of client-go makes it. */
function eventOf({ apiVersion, kind, metadata }: KubeObject, owner: OwnerReference): KubeObject {
  const { name = '', namespace = '', uid } = metadata
  const { apiVersion: version, kind: ownerKind, name: ownerName, uid: ownerUid } = owner
  const written = `[${version}/${ownerKind}, namespace: ${namespace}, name: ${ownerName}, uid: ${ownerUid}]`
  const now = timestamp()
  const source = { component: 'garbage-collector-controller' }
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${name}.${(BigInt(Date.now()) * nanosPerMilli).toString(16)}`,
      namespace: namespace || 'default',
    },
    involvedObject: { apiVersion, kind, name, ...(namespace !== '' && { namespace }), uid },
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef ${written} does not exist in namespace ${JSON.stringify(namespace)}`,
    type: 'Warning',
    source,
    reportingComponent: source.component,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  }
}
