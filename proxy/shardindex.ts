import type { Backend, ResourceRef } from '../framework/contract/backend.ts'
import type { Informer } from '../framework/contract/informer.ts'
import { type ItemEvent, isCopied, originAnnotation } from '../framework/contract/item.ts'
import type { Logger } from '../framework/contract/log.ts'
import type { PeerClient } from '../framework/contract/peer.ts'
import { createWorkspaceTree, type Place } from '../framework/contract/workspacetree.ts'
import { createInformers } from '../framework/informers/informers.ts'
import type { ClusterName, KubeObject } from '../framework/meta/object.ts'
import { leavingAnnotation } from '../kcp/annotations.ts'
import { coreGroup, tenancyGroup } from '../kcp/apigroups.ts'
import { logicalClusterName } from '../kcp/logicalclusters.ts'
import { movesIn } from '../kcp/migration.ts'
import { resolveHome } from '../kcp/names.ts'
import { resources, shardsExport } from '../kcp/resources.ts'
import { Owners } from './owners.ts'
import { identityOf, identityOn } from './shardidentity.ts'

/** A shard and its URL. */
export interface ShardAddress {
  readonly name: string
  /** Without a trailing slash. */
  readonly baseURL: string
}

/** What a path leads to: a logical cluster of a shard, or a mount. */
export type Location =
  | { readonly kind: 'shard'; readonly shard: ShardAddress; readonly cluster: ClusterName }
  | Exclude<Place, { kind: 'cluster' }>

/** The logical clusters and workspaces of all shards, kept up to date by watches. */
export interface ShardIndex {
  find(path: string): Location | undefined
  /** Whether all known shards have been listed once. */
  isReady(): boolean
  /** The same, without those that do not answer, or could not be listed for `patience`: the others are served meanwhile. */
  isServing(): boolean
  shardOf(cluster: ClusterName): ShardAddress | undefined
  /** The prefixes of the URLs of workspaces, without a trailing slash. */
  ownUrls(): readonly string[]
  /** The known shard that serves a URL. */
  shardAt(url: string): ShardAddress | undefined
  /** The known shards, sorted by name. */
  shards(): ShardSet
  /** The number of logical clusters by shard. */
  sizes(): ReadonlyMap<string, number>
}

/** The shards of the installation at a time. */
export interface ShardSet {
  readonly all: readonly ShardAddress[]
  /** Aborts when a shard joins, leaves or moves. */
  readonly changed: AbortSignal
}

export interface ShardIndexOptions {
  /** Reads the Shard objects. */
  readonly root: PeerClient
  /** Reads everything of one shard. */
  readonly connect: (shard: ShardAddress) => PeerClient
  /** A prefix of the URLs of workspaces, besides those in Shard objects. Mounts with such a URL point to another workspace. */
  readonly externalUrl: string
  /** Milliseconds, see `isServing`; default two minutes. */
  readonly patience?: number
  readonly log: Logger
  readonly signal: AbortSignal
}

const bound = (group: string, resource: string, identity: string): ResourceRef => ({
  group,
  version: 'v1alpha1',
  resource,
  identity,
})

/** Indexes all shards until `signal` aborts. Rejects when the root shard is unreachable. */
export async function followShards(options: ShardIndexOptions): Promise<ShardIndex> {
  const { root, log, signal } = options
  const [tenancy, shards] = await Promise.all(
    [tenancyGroup, shardsExport].map(name => identityOf(root, name, signal)),
  )
  const index = new Index(options, tenancy ?? '')
  const informer = informerOf(root, bound(coreGroup, 'shards', shards ?? ''), { log, signal }, 'root')
  informer.onEvent(event => index.applyShard(event))
  await informer.synced
  return index
}

type Until = Pick<ShardIndexOptions, 'log' | 'signal'>

/** Lists and watches of one resource of one shard, in `cluster` or all. */
function informerOf(
  client: PeerClient,
  resource: ResourceRef,
  { log, signal }: Until,
  cluster = '*',
): Informer {
  const storage: Backend['storage'] = ref => {
    const all = client.storage(ref)
    return {
      ...all,
      list: (ctx, query) => all.list(ctx, { ...query, cluster }),
      watch: (ctx, query) => all.watch(ctx, { ...query, cluster }),
    }
  }
  return createInformers({ storage }, log, signal).for(resource)
}

interface Shard extends KubeObject {
  readonly spec?: { readonly baseURL?: string; readonly externalURL?: string }
}

const withoutSlash = (url = ''): string => url.replace(/\/+$/, '')

interface Followed {
  readonly address: ShardAddress
  /** From `performance.now()`: when it was asked first. */
  readonly since: number
  /** It did not answer when it was asked last. */
  isFailing: boolean
  isSynced: boolean
  stop(): void
}

class Index implements ShardIndex {
  readonly #options: ShardIndexOptions
  /** The identity hash of the workspaces of `root`. */
  readonly #identity: string
  readonly #shards = new Map<string, Followed>()
  readonly #owners = new Owners<ShardAddress>()
  readonly #workspaces = new Map<ShardAddress, Informer>()
  /** By shard. */
  readonly #externalUrls = new Map<string, string>()
  readonly #tree
  #changing = new AbortController()

  constructor(options: ShardIndexOptions, identity: string) {
    this.#options = options
    this.#identity = identity
    this.#tree = createWorkspaceTree(() => this.ownUrls())
  }

  find(path: string): Location | undefined {
    const place = this.#tree.place(resolveHome(path), cluster => this.#owners.of(cluster) !== undefined)
    if (place?.kind !== 'cluster') return place
    const shard = this.#owners.of(place.cluster)
    return shard && { kind: 'shard', shard, cluster: place.cluster }
  }

  isReady(): boolean {
    return this.#shards.size > 0 && [...this.#shards.values()].every(({ isSynced }) => isSynced)
  }

  isServing(): boolean {
    const { patience = 120_000 } = this.#options
    const isAbsent = ({ isFailing, since }: Followed): boolean =>
      isFailing || performance.now() - since >= patience
    const all = [...this.#shards.values()]
    return all.length > 0 && all.every(shard => shard.isSynced || isAbsent(shard))
  }

  shardOf(cluster: ClusterName): ShardAddress | undefined {
    return this.#owners.of(cluster)
  }

  shardAt(url: string): ShardAddress | undefined {
    for (const { address } of this.#shards.values()) if (url.startsWith(`${address.baseURL}/`)) return address
    return undefined
  }

  shards(): ShardSet {
    const all = [...this.#shards.values()].map(({ address }) => address)
    return {
      all: all.sort((a, b) => (a.name < b.name ? -1 : 1)),
      changed: this.#changing.signal,
    }
  }

  ownUrls(): readonly string[] {
    return [this.#options.externalUrl, ...this.#externalUrls.values()]
  }

  sizes(): ReadonlyMap<string, number> {
    const sizes = new Map([...this.#shards.keys()].map(name => [name, 0]))
    for (const [, { name }] of this.#owners.all()) sizes.set(name, (sizes.get(name) ?? 0) + 1)
    return sizes
  }

  applyShard({ type, item }: ItemEvent): void {
    const { name } = item.key
    const { spec = {} } = item.object as Shard
    const baseURL = withoutSlash(spec.baseURL)
    const externalURL = withoutSlash(spec.externalURL)
    if (type === 'DELETED' || externalURL === '') this.#externalUrls.delete(name)
    else this.#externalUrls.set(name, externalURL)
    const known = this.#shards.get(name)
    if (type !== 'DELETED' && known?.address.baseURL === baseURL) return
    known?.stop()
    this.#shards.delete(name)
    if (type !== 'DELETED' && baseURL !== '') this.#follow({ name, baseURL })
    this.#changing.abort()
    this.#changing = new AbortController()
  }

  #follow(address: ShardAddress): void {
    const { connect, log, signal } = this.#options
    const ending = new AbortController()
    const client = connect(address)
    const until = {
      log: log.child({ shard: address.name }),
      signal: AbortSignal.any([signal, ending.signal]),
    }
    const followed: Followed = {
      address,
      since: performance.now(),
      isFailing: false,
      isSynced: false,
      stop: () => {
        ending.abort()
        void client.close()
        this.#forget(address)
      },
    }
    this.#shards.set(address.name, followed)
    void this.#list(followed, client, until).then(
      () => {
        followed.isSynced = true
      },
      () => undefined,
    )
  }

  /** Resolves when the shard was listed once. */
  async #list(followed: Followed, client: PeerClient, until: Until): Promise<void> {
    const shard = followed.address
    const answers = (does: boolean): void => {
      followed.isFailing = !does
    }
    const identity = await identityOn(client, this.#identity, { ...until, answers })
    const clusters = informerOf(client, resources.logicalClusters, until)
    const workspaces = informerOf(client, bound(tenancyGroup, 'workspaces', identity), until)
    // A workspace belongs to the shard of its parent: a shard that was started standalone has another `root`.
    this.#workspaces.set(shard, workspaces)
    clusters.onEvent(event => this.#applyCluster(shard, event))
    workspaces.onEvent(event => this.#applyWorkspace(shard, event))
    await Promise.all([clusters.synced, workspaces.synced])
  }

  #applyCluster(shard: ShardAddress, { type, item: { key, meta } }: ItemEvent): void {
    const { cluster, name } = key
    if (name !== logicalClusterName) return
    const destination = meta.annotations[originAnnotation] ?? meta.annotations[leavingAnnotation] ?? ''
    this.#changeOwner(cluster, () => {
      // A logical cluster that has moved leaves a copy, which lists do not have.
      if (type !== 'DELETED' && !isCopied(meta)) this.#owners.add(cluster, shard, movesIn(meta.annotations))
      else this.#owners.remove(cluster, shard, this.#shards.get(destination)?.address)
    })
  }

  /** Shows the workspaces of the shard that has the logical cluster then. */
  #changeOwner(cluster: ClusterName, change: () => void): void {
    const before = this.#owners.of(cluster)
    change()
    const owner = this.#owners.of(cluster)
    if (owner === before) return
    if (before !== undefined) this.#tree.forget(new Set([cluster]))
    if (owner === undefined) return
    for (const workspace of this.#workspaces.get(owner)?.list(cluster) ?? [])
      this.#applyWorkspace(owner, { type: 'ADDED', item: workspace })
  }

  #applyWorkspace(shard: ShardAddress, { type, item }: ItemEvent): void {
    if (this.#owners.of(item.key.cluster) !== shard) return
    this.#tree.setWorkspace(item.key.cluster, item.key.name, type === 'DELETED' ? undefined : item.object)
  }

  #forget(shard: ShardAddress): void {
    const clusters = [...this.#owners.all()].flatMap(([cluster, owner]) => (owner === shard ? [cluster] : []))
    this.#tree.forget(new Set(clusters))
    this.#workspaces.delete(shard)
    for (const cluster of [...clusters, ...this.#owners.shared()])
      this.#changeOwner(cluster, () => this.#owners.remove(cluster, shard))
  }
}
