import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { loopbackContext } from '../../framework/contract/loopback.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { isCopy } from '../../kcp/annotations.ts'
import type { APIExport } from '../../kcp/apis.ts'
import { logicalClusterName, shardCluster } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import { type ExportIdentity, tenancyExports, tenancyResources } from '../bootstrap/bootstrap.ts'
import { systemManifests } from '../bootstrap/root.ts'
import { encodeStored, storageKey } from '../cache/codec.ts'
import type { TenancyResources } from '../controllers/host.ts'
import { applyManifests, storedObject, storedResourceOf } from '../manifests/apply.ts'
import type { Manifest } from '../manifests/manifest.ts'
import type { Store } from '../store/store.ts'
import { untilReached } from './announce.ts'
import { copyOf, type PeerObject } from './copying.ts'

export interface JoinOptions {
  readonly store: Store
  /** The shard with `root`, and its name. */
  readonly root: PeerClient
  readonly origin: string
  readonly log: Logger
  readonly signal: AbortSignal
}

/** The store already has a root workspace. */
export class HasOwnRoot extends Error {
  override readonly name = 'HasOwnRoot'
}

/**
 * Prepares a store as a shard of another shard's tree, instead of `bootstrap`: copies root's exports and kinds. Waits
 * for the root shard and its exports at the first start only. Throws `HasOwnRoot`.
 */
export async function joinRoot(options: JoinOptions): Promise<TenancyResources> {
  const { store } = options
  const own = await storedObject(store, inRoot(resources.logicalClusters, logicalClusterName))
  if (own !== undefined && !isCopy(own)) throw new HasOwnRoot('the store already has a root workspace')
  await applyManifests(store, systemManifests())
  const known = await identitiesIn(store)
  if (known.length === tenancyExports.length) return tenancyResources(known)
  return untilReached(options, async () => {
    await copyRoot(options)
    // A root shard that starts has no exports, or exports without identities.
    return tenancyResources(await identitiesIn(store))
  })
}

const inRoot = (resource: ResourceRef, name: string): Manifest => ({
  cluster: 'root',
  resource,
  object: { apiVersion: '', kind: '', metadata: { name } },
})

async function identitiesIn(store: Store): Promise<readonly ExportIdentity[]> {
  const found = await Promise.all(
    tenancyExports.map(name => storedObject(store, inRoot(resources.apiExports, name))),
  )
  return found.flatMap(object => (object === undefined ? [] : identityOf(object)))
}

function identityOf(object: KubeObject): readonly ExportIdentity[] {
  const { metadata, status } = object as APIExport
  return status?.identityHash ? [{ name: metadata.name ?? '', identity: status.identityHash }] : []
}

/** The objects of `root` that views and workspaces need at the start; the others are copied later. */
const needed = [resources.logicalClusters, resources.apiResourceSchemas, resources.apiExports]

/** Copies exports last: when they are stored, the copy is complete. */
async function copyRoot(options: JoinOptions): Promise<void> {
  const { store, origin } = options
  const bindings = await listedInRoot(options, resources.apiBindings)
  const originals = await Promise.all(needed.map(resource => listedInRoot(options, resource)))
  await applyManifests(store, bindings.flatMap(bindingHere))
  const changes = originals.flat().map(({ resource, item }) => ({
    key: storageKey(storedResourceOf(resource), item.key),
    value: encodeStored(copyOf(item.object, origin)),
  }))
  await store.commit(changes)
}

/** A shard serves the kinds of the tree to its peers before any of its workspaces binds them. */
function bindingHere({ resource, item }: PeerObject): readonly Manifest[] {
  const { metadata, ...object } = item.object
  const { name = '', labels = {}, finalizers = [] } = metadata
  if (!tenancyExports.includes(name)) return []
  return [{ cluster: shardCluster, resource, object: { ...object, metadata: { name, labels, finalizers } } }]
}

async function listedInRoot(
  { root, log, signal }: JoinOptions,
  resource: ResourceRef,
): Promise<readonly PeerObject[]> {
  const ctx = loopbackContext({ verb: 'list', resource, cluster: 'root', signal, log })
  const found: PeerObject[] = []
  for await (const items of root.storage(resource).list(ctx, { cluster: 'root' }))
    for (const item of items) found.push({ resource, item })
  return found
}
