import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Informer, Informers } from '../../framework/contract/informer.ts'
import { type Item, isCopied, originAnnotation } from '../../framework/contract/item.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { createInformers } from '../../framework/informers/informers.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import { isCopy } from '../../kcp/annotations.ts'
import type { LogicalCluster } from '../../kcp/core.ts'
import { logicalClusterName } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import { type ClusterContent, removalOf } from '../bindings/content.ts'
import { encodeStored, storageKey } from '../cache/codec.ts'
import type { TenancyResources } from '../controllers/host.ts'
import { createQueue } from '../controllers/queue.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import type { StoreChange } from '../store/store.ts'

/** The store and the cache of the copies. */
export interface CopyDeps {
  readonly content: ClusterContent
  readonly informers: Informers
  readonly tenancy: TenancyResources
  readonly log: Logger
}

/** A logical cluster with such objects is used by other logical clusters. */
const offered = ({ workspaceTypes, shards }: TenancyResources): readonly ResourceRef[] => [
  resources.apiExports,
  resources.endpointSlices,
  workspaceTypes,
  shards,
]

/** Those of a provider apply to the resources of its exports, wherever the consumer is. */
const admissionConfigurations: readonly ResourceRef[] = [
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
].map(resource => ({ group: 'admissionregistration.k8s.io', version: 'v1', resource }))

/** Copied together with them: definitions, RBAC objects, authentication configurations, and what admission asks. */
const along = ({ workspaceTypes }: TenancyResources): readonly ResourceRef[] => [
  { ...workspaceTypes, resource: 'workspaceauthenticationconfigurations' },
  resources.logicalClusters,
  resources.apiResourceSchemas,
  resources.clusterRoles,
  resources.clusterRoleBindings,
  ...admissionConfigurations,
]

/**
 * Keeps copies of the objects of another shard that this shard needs, until `signal` aborts (kcp
 * `pkg/reconciler/cache/replication`): all objects of logical clusters with exports or types, and the logical
 * clusters of workspaces on this shard.
 */
export async function keepCopies(
  deps: CopyDeps,
  origin: { readonly name: string; readonly client: PeerClient },
  signal: AbortSignal,
): Promise<void> {
  const log = deps.log.child({ shard: origin.name })
  const there = createInformers(origin.client, log, signal)
  const sources = [...offered(deps.tenancy), ...along(deps.tenancy)].map(resource => ({
    resource,
    informer: there.for(resource),
  }))
  const ended = once(signal, 'abort')
  await Promise.race([ended, Promise.all(sources.map(({ informer }) => informer.synced))])
  if (signal.aborted) return
  const queue = createQueue({
    name: 'copies',
    log,
    reconcile: cluster => bring(deps, origin.name, cluster, originalsIn(deps, sources, cluster)),
  })
  for (const { informer } of sources)
    informer.onEvent(({ item }) => {
      if (isOwn(item)) queue.add(item.key.cluster)
    })
  // Objects that were deleted while there was no watch.
  for (const { key, meta } of deps.informers.for(resources.logicalClusters).list())
    if (meta.annotations[originAnnotation] === origin.name) queue.add(key.cluster)
  await queue.run(signal)
}

interface Source {
  readonly resource: ResourceRef
  readonly informer: Informer
}

/** Not a copy: shards also copy each other's objects. */
const isOwn = ({ meta }: Item): boolean => !isCopied(meta)

function originalsIn(
  { informers, tenancy }: CopyDeps,
  sources: readonly Source[],
  cluster: ClusterName,
): readonly PeerObject[] {
  const all = sources.flatMap(({ resource, informer }) =>
    informer.list(cluster).flatMap(item => (isOwn(item) ? [{ resource, item }] : [])),
  )
  const home = all.find(({ resource, item }) => resource === resources.logicalClusters && isHome(item))
  if (home === undefined) return []
  const offers = offered(tenancy)
  if (all.some(({ resource }) => offers.includes(resource))) return all
  const { owner } = (home.item.object as LogicalCluster).spec ?? {}
  const parent = informers.for(resources.logicalClusters).get(owner?.cluster ?? '', '', logicalClusterName)
  return parent !== undefined && !isCopy(parent.object) ? [home] : []
}

const isHome = ({ key }: Item): boolean => key.name === logicalClusterName

/** One commit; the logical cluster is created first, and deleted together with the rest. */
async function bring(
  { content }: CopyDeps,
  origin: string,
  cluster: ClusterName,
  originals: readonly PeerObject[],
): Promise<void> {
  const wanted = new Set(
    originals.map(({ resource, item }) => storageKey(storedResourceOf(resource), item.key)),
  )
  const gone = [...content.of(cluster)].filter(
    ({ resource, item }) =>
      item.meta.annotations[originAnnotation] === origin && !wanted.has(storageKey(resource, item.key)),
  )
  const changes = originals.flatMap(original => changeTo(content, original, origin) ?? [])
  await content.commit([...changes, ...gone.map(removalOf)])
}

/** An object of another shard. */
export interface PeerObject {
  readonly resource: ResourceRef
  readonly item: Item
}

/** Labels with which views select objects: copies do not have them. */
const selected = /^(claimed|initializer|terminator)\.internal\./

/** Keeps the uid, to which bindings refer; removes the fields that make controllers of this shard responsible. */
export function copyOf(object: KubeObject, origin: string): KubeObject {
  const { resourceVersion, managedFields, ownerReferences, finalizers, ...metadata } = object.metadata
  const { labels = {}, annotations, ...kept } = metadata
  const shown = Object.entries(labels).filter(([key]) => !selected.test(key))
  return {
    ...object,
    metadata: {
      ...kept,
      annotations: { ...annotations, [originAnnotation]: origin },
      ...(shown.length === 0 ? {} : { labels: Object.fromEntries(shown) }),
    },
  }
}

/** The change that stores a copy; undefined when it is stored already. It never replaces an object of this shard. */
export function changeTo(
  content: Pick<ClusterContent, 'get'>,
  { resource, item }: PeerObject,
  origin: string,
): StoreChange | undefined {
  const place = storedResourceOf(resource)
  const known = content.get(place, item.key)?.item
  const next = copyOf(item.object, origin)
  if (known !== undefined) {
    const isForeign = known.meta.annotations[originAnnotation] !== origin
    if (isForeign || isDeepStrictEqual(copyOf(known.object, origin), next)) return undefined
  }
  return { key: storageKey(place, item.key), value: encodeStored(next), expected: known?.modified ?? 0 }
}
