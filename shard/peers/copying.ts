import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Informer, Informers } from '../../framework/contract/informer.ts'
import { type Item, isCopied, originAnnotation } from '../../framework/contract/item.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { createInformers } from '../../framework/informers/informers.ts'
import {
  type ClusterName,
  isSystemCluster,
  type KubeObject,
  type ObjectKey,
} from '../../framework/meta/object.ts'
import { incomingAnnotation, isCopy, migratingAnnotation } from '../../kcp/annotations.ts'
import type { LogicalCluster } from '../../kcp/core.ts'
import { logicalClusterName, rootCluster } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import { type ClusterContent, removalOf, type Stored } from '../bindings/content.ts'
import { encodeStored, type StoredResource, storageKey } from '../cache/codec.ts'
import type { TenancyResources } from '../controllers/host.ts'
import { createQueue } from '../controllers/queue.ts'
import { wellFormed } from '../entries/wellformed.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import type { StoreChange } from '../store/store.ts'
import type { Holders } from './holders.ts'
import { MalformedObjects } from './malformedobjects.ts'

/** The store and the cache of the copies. */
export interface CopyDeps {
  readonly content: ClusterContent
  readonly informers: Informers
  readonly tenancy: TenancyResources
  readonly log: Logger
  /** The name of the shard with `root`; absent on that shard. */
  readonly rootShard?: string | undefined
  /** The same for all shards whose objects are copied. */
  readonly holders: Holders
}

/** A logical cluster with such objects is used by other logical clusters. */
export const offered = ({ workspaceTypes, shards }: TenancyResources): readonly ResourceRef[] => [
  resources.apiExports,
  resources.endpointSlices,
  resources.clusterCachedResources,
  workspaceTypes,
  shards,
]

/** Those of a provider apply to the resources of its exports, wherever the consumer is. */
export const admissionConfigurations: readonly ResourceRef[] = [
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
  resources.cachedResourceSlices,
  resources.apiResourceSchemas,
  resources.clusterRoles,
  resources.clusterRoleBindings,
  ...admissionConfigurations,
]

/**
 * Whether other shards have a copy of a stored object of a logical cluster: the copies are the same when the logical cluster
 * has moved to another shard.
 */
export function isSharedOf(
  { content, tenancy }: Pick<CopyDeps, 'content' | 'tenancy'>,
  cluster: ClusterName,
): (resource: StoredResource) => boolean {
  const offers = offered(tenancy).map(storedResourceOf)
  if (!offers.some(resource => content.count(resource, cluster) > 0)) return () => false
  const shared = new Set([...offers, ...along(tenancy).map(storedResourceOf)].map(idOf))
  return resource => shared.has(idOf(resource))
}

const idOf = ({ group, resource, segment }: StoredResource): string => `${group}/${resource}/${segment}`

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
  const sources = [...offered(deps.tenancy), ...along(deps.tenancy)].map(sourceIn(there))
  const release = deps.holders.follow(origin.name, there.for(resources.logicalClusters))
  const ended = once(signal, 'abort')
  await Promise.race([ended, Promise.all(sources.map(({ informer }) => informer.synced))])
  if (signal.aborted) return release()
  const refused = new Set<ClusterName>()
  const sent: Sent = { sources, malformed: new MalformedObjects(log) }
  const reconcile = async (cluster: ClusterName): Promise<void> => {
    const found = mayHave(deps, origin.name, cluster) ? foundIn(deps, sent, origin.name, cluster) : undefined
    if (found === undefined) refused.add(cluster)
    else refused.delete(cluster)
    await bring(deps, origin.name, cluster, found)
  }
  const queue = createQueue({ name: 'copies', log, reconcile })
  for (const { informer } of sources)
    informer.onEvent(({ item }) => {
      if (isOwn(item) || isCopyOf(origin.name, deps, item.key)) queue.add(item.key.cluster)
    })
  const childrenOf = there.for(resources.logicalClusters).index(parentsIn)
  const again = deps.holders.onChange(cluster => void (refused.has(cluster) && queue.add(cluster)))
  const kept = deps.informers.for(resources.logicalClusters).onEvent(({ type, item: { key, meta } }) => {
    // One that was here, or a copy of another shard, was removed or has moved: that shard may have it now.
    if (type === 'DELETED' || (isCopied(meta) && refused.has(key.cluster))) queue.add(key.cluster)
    // It may have come from another shard, and its children may be on this one.
    for (const child of childrenOf(key.cluster)) queue.add(child.key.cluster)
  })
  // Objects that were deleted while there was no watch.
  for (const { key, meta } of deps.informers.for(resources.logicalClusters).list())
    if (meta.annotations[originAnnotation] === origin.name) queue.add(key.cluster)
  await queue.run(signal)
  for (const stop of [kept, again, release]) stop()
}

/** The logical cluster of the Workspace that a LogicalCluster belongs to. */
const parentsIn = ({ object }: Item): readonly string[] => {
  const { owner } = (object as LogicalCluster).spec ?? {}
  return owner === undefined ? [] : [owner.cluster]
}

/** A logical cluster that was copied may have moved away: its LogicalCluster is a copy there, too. */
const isCopyOf = (origin: string, { informers }: CopyDeps, { cluster }: ObjectKey): boolean =>
  informers.for(resources.logicalClusters).get(cluster, '', logicalClusterName)?.meta.annotations[
    originAnnotation
  ] === origin

interface Source {
  readonly resource: ResourceRef
  readonly informer: Informer
}

const sourceIn =
  (there: Informers) =>
  (resource: ResourceRef): Source => ({ resource, informer: there.for(resource) })

/** What another shard sends. */
interface Sent {
  readonly sources: readonly Source[]
  readonly malformed: MalformedObjects
}

/** Not a copy: shards also copy each other's objects. */
export const isOwn = ({ meta }: Item): boolean => !isCopied(meta)

/** What another shard has of a logical cluster. */
interface Found {
  /**
   * `here`: its objects are those of the logical cluster. `away`: those of another shard are, or will be, or it is deleted.
   * `arriving`: it has no objects yet.
   */
  readonly state: 'here' | 'away' | 'arriving'
  /** The objects that are copied. */
  readonly originals: readonly PeerObject[]
  /** The keys of its objects, and of those that have become copies: what has moved away is not gone. */
  readonly present: ReadonlySet<string>
  readonly moved: ReadonlySet<string>
}

/** Every shard has its own `system:` logical clusters, whose roles hold in all others, and one shard has `root`. */
const mayHave = ({ rootShard }: CopyDeps, shard: string, cluster: ClusterName): boolean =>
  !isSystemCluster(cluster) && (cluster !== rootCluster || shard === rootShard)

/** undefined for a logical cluster of this shard or of a third one. */
function foundIn(deps: CopyDeps, sent: Sent, origin: string, cluster: ClusterName): Found | undefined {
  const all = wellFormedIn(sent, cluster)
  const home = all.find(({ resource, item }) => resource === resources.logicalClusters && isHome(item))
  const state = home === undefined ? 'away' : stateOf(home.item)
  if (home !== undefined && state === 'here' && deps.holders.isOfAnother(origin, home.item)) return undefined
  const originals = home === undefined || state !== 'here' ? [] : originalsOf(deps, home, all)
  const moved = all.filter(({ item }) => !isOwn(item))
  return { state, originals, present: new Set(all.map(placeOf)), moved: new Set(moved.map(placeOf)) }
}

function wellFormedIn({ sources, malformed }: Sent, cluster: ClusterName): readonly PeerObject[] {
  const all = sources.flatMap(({ resource, informer }) =>
    informer.list(cluster).map(item => ({ resource, item })),
  )
  malformed.report(cluster, all)
  return all.flatMap(({ resource, item }) => {
    const read = wellFormed(resource, item)
    return read === undefined ? [] : [{ resource, item: read }]
  })
}

const isHome = ({ key }: Item): boolean => key.name === logicalClusterName

const placeOfHome = (cluster: ClusterName): string =>
  storageKey(storedResourceOf(resources.logicalClusters), {
    cluster,
    namespace: '',
    name: logicalClusterName,
  })

const placeOf = ({ resource, item }: PeerObject): string => storageKey(storedResourceOf(resource), item.key)

function stateOf({ meta }: Item): Found['state'] {
  if (meta.annotations[incomingAnnotation] !== undefined) return 'arriving'
  return isCopied(meta) || meta.annotations[migratingAnnotation] !== undefined ? 'away' : 'here'
}

function originalsOf(
  { informers, tenancy }: CopyDeps,
  home: PeerObject,
  all: readonly PeerObject[],
): readonly PeerObject[] {
  const own = all.filter(({ item }) => isOwn(item))
  const offers = offered(tenancy)
  if (own.some(({ resource }) => offers.includes(resource))) return own
  const { owner } = (home.item.object as LogicalCluster).spec ?? {}
  const parent = informers.for(resources.logicalClusters).get(owner?.cluster ?? '', '', logicalClusterName)
  return parent !== undefined && !isCopy(parent.object) ? [home] : []
}

/** One commit; the logical cluster is created first, and deleted together with the rest. */
async function bring(
  { content }: CopyDeps,
  origin: string,
  cluster: ClusterName,
  found: Found | undefined,
): Promise<void> {
  // Consumers go on with the copies that are there.
  if (found === undefined || found.state === 'arriving') return
  const { state, originals, present, moved } = found
  const wanted = new Set(originals.map(placeOf))
  const isGone = ({ resource, item }: Stored): boolean => {
    const place = storageKey(resource, item.key)
    const from = item.meta.annotations[originAnnotation]
    if (from === undefined || wanted.has(place)) return false
    if (state === 'here') return !moved.has(place)
    if (from !== origin || present.has(place)) return false
    // Lists of logical clusters have no copies: one that has moved away is absent there.
    return present.size === 0 || place !== placeOfHome(cluster)
  }
  const gone = [...content.of(cluster)].filter(isGone)
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

/**
 * The change that stores a copy, also in the place of a copy of another shard, which had the object before; undefined when it is
 * stored already. It never replaces an object of this shard.
 */
export function changeTo(
  content: Pick<ClusterContent, 'get'>,
  { resource, item }: PeerObject,
  origin: string,
): StoreChange | undefined {
  const place = storedResourceOf(resource)
  const known = content.get(place, item.key)?.item
  const next = copyOf(item.object, origin)
  if (known !== undefined) {
    const from = known.meta.annotations[originAnnotation]
    const isCurrent = from === origin && isDeepStrictEqual(copyOf(known.object, origin), next)
    if (from === undefined || isCurrent) return undefined
  }
  return { key: storageKey(place, item.key), value: encodeStored(next), expected: known?.modified ?? 0 }
}
