import { setMaxListeners } from 'node:events'
import { aborted } from '../../framework/async/awaitable.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Informer, Informers } from '../../framework/contract/informer.ts'
import { type Item, type ItemEvent, isCopied } from '../../framework/contract/item.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { createInformers } from '../../framework/informers/informers.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import { unlessNotFound } from '../../framework/meta/statuschecks.ts'
import { matchesLabels } from '../../framework/selectors/selectors.ts'
import type { ClusterCachedResource } from '../../kcp/cache.ts'
import { conditionIs } from '../../kcp/conditions.ts'
import { resources } from '../../kcp/resources.ts'
import { requirementsOf } from '../../kcp/selector.ts'
import { createController, keyOf, parseKey } from '../controllers/controller.ts'
import { type CountedCopies, identityOfBound } from '../controllers/exports/cachedresource.ts'
import { keepCopy, longest, pathInCache, removeCopy } from './cachecopy.ts'

export interface PublishedCopiesDeps {
  readonly informers: Informers
  readonly shard: { readonly name: string }
  readonly log: Logger
  /** The cache server, below the path of this shard. */
  readonly cacheServer: PeerClient
}

/** Objects of one logical cluster that ClusterCachedResources publish under one identity. */
interface Publication {
  readonly cluster: ClusterName
  /** With the identity of the publication. */
  readonly resource: ResourceRef
}

interface Running {
  readonly end: AbortController
  readonly done: Promise<void>
  /** The copies. */
  readonly there: Informer
}

/**
 * Keeps copies of published objects in a cache server, where shards of kcp read them as `<resource>:<identity>` (kcp
 * `pkg/reconciler/cache/clustercachedresources/replication`). The cache server serves them while it has a copy of their
 * ClusterCachedResource: they are written after that copy, and removed before it.
 */
export class PublishedCopies implements CountedCopies {
  readonly #deps: PublishedCopiesDeps
  readonly #published: Informer
  readonly #running = new Map<string, Running>()
  readonly #handlers = new Set<(event: ItemEvent) => void>()

  constructor(deps: PublishedCopiesDeps) {
    this.#deps = deps
    this.#published = deps.informers.for(resources.clusterCachedResources)
  }

  /** Writes the objects of a ClusterCachedResource whose copy is in the cache server. */
  begin(copy: Item): void {
    const publication = publicationOf(copy)
    if (publication === undefined || !this.#isWanted(publication)) return
    const id = idOf(publication)
    if (this.#running.has(id)) return
    const end = new AbortController()
    setMaxListeners(0, end.signal)
    const { cacheServer, log } = this.#deps
    const there = createInformers(cacheServer, log, end.signal).for(publication.resource)
    there.onEvent(event => {
      for (const handler of this.#handlers) handler(event)
    })
    this.#running.set(id, { end, there, done: this.#copy(publication, there, end.signal) })
  }

  countOf(cluster: ClusterName, resource: ResourceRef): number {
    return this.#running.get(idOf({ cluster, resource }))?.there.list(cluster).length ?? 0
  }

  onEvent(handler: (event: ItemEvent) => void): () => void {
    this.#handlers.add(handler)
    return () => void this.#handlers.delete(handler)
  }

  /** Removes the objects that only this copy of a ClusterCachedResource publishes, before it changes or is removed. */
  async end(copy: Item, next: Item | undefined): Promise<void> {
    const publication = publicationOf(copy)
    if (publication === undefined) return
    const after = next && publicationOf(next)
    if ((after !== undefined && idOf(after) === idOf(publication)) || this.#isWanted(publication)) return
    const running = this.#running.get(idOf(publication))
    this.#running.delete(idOf(publication))
    running?.end.abort()
    await running?.done
    await purge(this.#deps.cacheServer, publication)
  }

  async stop(): Promise<void> {
    for (const { end } of this.#running.values()) end.abort()
    await Promise.all([...this.#running.values()].map(({ done }) => done))
    this.#running.clear()
  }

  /** The own ClusterCachedResources with this publication. */
  #publishing(publication: Publication): readonly ClusterCachedResource[] {
    const found = this.#published.list(publication.cluster).filter(item => {
      const own = isCopied(item.meta) ? undefined : publicationOf(item)
      return own !== undefined && idOf(own) === idOf(publication)
    })
    return found.map(({ object }) => object as ClusterCachedResource)
  }

  #isWanted(publication: Publication): boolean {
    return this.#publishing(publication).length > 0
  }

  async #copy(publication: Publication, there: Informer, signal: AbortSignal): Promise<void> {
    const { cacheServer, informers, log, shard } = this.#deps
    const { cluster, resource } = publication
    await Promise.race([there.synced, aborted(signal)])
    if (signal.aborted) return
    const here = informers.for(storedAs(informers, publication))
    const inCluster = ({ item }: ItemEvent): readonly string[] =>
      item.key.cluster === cluster ? [keyOf(item)] : []
    const all = ({ item }: ItemEvent): readonly string[] =>
      item.key.cluster === cluster ? [...here.list(cluster), ...there.list(cluster)].map(keyOf) : []
    const reconcile = async (key: string): Promise<undefined> => {
      const { name } = parseKey(key)
      const found = here.get(cluster, '', name)
      const original = found && isSelected(found, this.#publishing(publication)) ? found : undefined
      const copy = there.get(cluster, '', name)
      const path = pathInCache(cluster, resource)
      await keepCopy({ cacheServer, shard: shard.name, path, name, original, copy })
    }
    const sources = [
      { informer: here, keys: inCluster },
      { informer: there, keys: inCluster },
      { informer: this.#published, keys: all },
    ]
    await createController({ name: `copies of ${resource.resource}`, reconcile, sources }, log).run(signal)
  }
}

const idOf = ({ cluster, resource }: Publication): string => pathInCache(cluster, resource)

/** undefined while it publishes nothing. */
function publicationOf({ key: { cluster }, object }: Item): Publication | undefined {
  const { metadata, spec, status } = object as ClusterCachedResource
  const isValid = conditionIs(status?.conditions, 'ResourceValid', 'True')
  const { identityHash: identity } = status ?? {}
  if (metadata.deletionTimestamp !== undefined || !isValid || !identity) return undefined
  const { group = '', version = '', resource } = spec
  return { cluster, resource: { group, version, resource, identity } }
}

/** The resource as this shard stores it. */
function storedAs(informers: Informers, { cluster, resource }: Publication): ResourceRef {
  const { identity: _, ...ref } = resource
  const bound = identityOfBound(informers, cluster, ref)
  return { ...ref, ...(bound && { identity: bound }) }
}

const isSelected = ({ meta }: Item, publishing: readonly ClusterCachedResource[]): boolean =>
  publishing.some(
    ({ spec: { labelSelector } }) =>
      labelSelector === undefined || matchesLabels(requirementsOf(labelSelector), meta.labels),
  )

/** Removes all copies; those that are not served any more are none. */
async function purge(cacheServer: PeerClient, { cluster, resource }: Publication): Promise<void> {
  const path = pathInCache(cluster, resource)
  const asked = cacheServer.get<{ readonly items?: readonly KubeObject[] }>(
    path,
    AbortSignal.timeout(longest),
  )
  const { items = [] } = (await asked.catch(unlessNotFound)) ?? {}
  for (const item of items)
    await removeCopy(cacheServer, `${path}/${item.metadata.name}`, item).catch(unlessNotFound)
}
