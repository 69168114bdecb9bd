import { rbacGroup } from '../../../authz/rbac/rbacsource.ts'
import { type ClusterName, groupResource } from '../../../framework/meta/object.ts'
import { apisGroup, viewsGroup } from '../../../kcp/apigroups.ts'
import { boundCRDsCluster } from '../../../kcp/logicalclusters.ts'
import { schemaClusterAnnotation } from '../../bindings/boundschemas.ts'
import type { WatchCache } from '../../cache/contract.ts'
import type { WatchCacheEvent } from '../../cache/item.ts'
import type { ResourceCache } from '../../cache/resource.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import { type Amounts, type Share, type Tenant, tenantOf } from './tenants.ts'

export const workspaceKind = 'workspaces.tenancy.kcp.io'

/** Kinds that are not limited in their number. */
export const uncountedKinds: ReadonlySet<string> = new Set([
  'events',
  'events.events.k8s.io',
  'logicalclusters.core.kcp.io',
])

/** Paths that everybody's workspaces are below. */
const unlimited: ReadonlySet<string> = new Set(['root', 'user'])

/** `root:org:team` → `root:org:team`, `root:org`: the workspaces with a limit that contain a workspace. */
export const ancestorsOf = (path: string): readonly string[] => {
  const segments = path.split(':')
  return segments
    .map((_, i) => segments.slice(0, segments.length - i).join(':'))
    .filter(above => !unlimited.has(above))
}

/** What an object counts for that the server keeps decoded: for each of its bytes, and besides. */
interface DecodedCost {
  readonly perByte: number
  readonly perObject: number
}

const costing = (perByte: number, perObject: number, group: string, ...kinds: readonly string[]) =>
  kinds.map((kind): [string, DecodedCost] => [groupResource(group, kind), { perByte, perObject }])

const admissionGroup = 'admissionregistration.k8s.io'

/** A third of the memory of a resource that is served, and of a schema that is not bound: 18 to 28 KiB, and 8 KiB. */
const [servedBytes, schemaBytes] = [8 * 1024, 2 * 1024]

/**
 * The kinds that the server keeps decoded. Counted bytes take about three bytes of memory: decoded objects take three times their bytes,
 * and compiled expressions thirty times.
 */
export const decodedKinds: ReadonlyMap<string, DecodedCost> = new Map([
  ...costing(1, servedBytes, 'apiextensions.k8s.io', 'customresourcedefinitions'),
  ...costing(1, schemaBytes, apisGroup, 'apiresourceschemas'),
  ...costing(1, 0, apisGroup, 'apiexports', 'apibindings'),
  ...costing(1, 0, rbacGroup, 'clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'),
  ...costing(1, 0, admissionGroup, 'mutatingwebhookconfigurations', 'validatingwebhookconfigurations'),
  ...costing(10, 0, admissionGroup, 'mutatingadmissionpolicies', 'validatingadmissionpolicies'),
  // Columns are compiled for each resource.
  ...costing(60, 0, viewsGroup, 'views'),
])

const free: DecodedCost = { perByte: 0, perObject: 0 }

/** The shares that are in use. */
class Shares {
  readonly #shares = new Map<string, Share>()

  of(who: string): Share {
    const known = this.#shares.get(who) ?? { who, bytes: 0, decodedBytes: 0 }
    this.#shares.set(who, known)
    return known
  }

  add(shares: readonly Share[], { bytes, decodedBytes }: Readonly<Amounts>): void {
    for (const share of shares) {
      share.bytes += bytes
      share.decodedBytes += decodedBytes
      if (bytes < 0 && share.bytes === 0) this.#shares.delete(share.who)
    }
  }
}

/** The usage of a logical cluster. */
class ClusterUsage implements Amounts {
  objects = 0
  bytes = 0
  decodedBytes = 0
  namespaces = 0
  /** Undefined for `root` and logical clusters of the system. */
  tenant: Tenant | undefined
}

/**
 * The logical cluster to which the bytes of an object count. A copy of a bound schema counts to that of the schema, because it outlives
 * the schema and the bindings by half an hour.
 */
const payerOf = ({ cluster, meta }: WatchCacheEvent['item']): ClusterName =>
  cluster === boundCRDsCluster ? (meta.annotations[schemaClusterAnnotation] ?? cluster) : cluster

const nothing: Readonly<ClusterUsage> = new ClusterUsage()

export interface UsageSources {
  readonly directory: Pick<ClusterDirectory, 'logicalCluster' | 'path'>
  readonly cache: WatchCache
}

/** The usage of all logical clusters, kept by the events of the cache. */
export class Usage {
  /** Of all logical clusters. */
  readonly all: Amounts = { bytes: 0, decodedBytes: 0 }
  readonly #directory: UsageSources['directory']
  readonly #clusters = new Map<ClusterName, ClusterUsage>()
  readonly #shares = new Shares()
  /** The number of workspaces below each path. */
  readonly #below = new Map<string, number>()
  /** The path of the parent of each workspace, which may be gone before the workspace. */
  readonly #parents = new Map<string, string>()

  constructor({ cache, directory }: UsageSources) {
    this.#directory = directory
    for (const each of cache.resources())
      for (const item of each.items()) this.#count(each, { type: 'ADDED', item })
    cache.subscribe((each, event) => this.#count(each, event))
  }

  of(cluster: ClusterName): Readonly<ClusterUsage> {
    return this.#clusters.get(cluster) ?? nothing
  }

  below(path: string): number {
    return this.#below.get(path) ?? 0
  }

  #count(
    { name }: ResourceCache,
    { type, item, previous }: Pick<WatchCacheEvent, 'type' | 'item' | 'previous'>,
  ): void {
    const by = type === 'ADDED' ? 1 : type === 'DELETED' ? -1 : 0
    const bytes = (type === 'DELETED' ? 0 : item.length) - (previous?.length ?? 0)
    const payer = payerOf(item)
    const used = this.#usageOf(payer)
    const { perByte, perObject } = decodedKinds.get(name) ?? free
    // The garbage collector has an index of all owners.
    const owners = (type === 'DELETED' ? 0 : item.ownerBytes) - (previous?.ownerBytes ?? 0)
    this.#add(used, { bytes, decodedBytes: bytes * perByte + by * perObject + owners })
    if (!uncountedKinds.has(name) && payer === item.cluster) used.objects += by
    if (name === 'namespaces') used.namespaces += by
    if (name === workspaceKind && by !== 0) this.#countWorkspace(item.id, item.cluster, by)
    if (used.bytes === 0) this.#clusters.delete(payer)
  }

  #add(used: ClusterUsage, amounts: Readonly<Amounts>): void {
    for (const sum of [this.all, used]) {
      sum.bytes += amounts.bytes
      sum.decodedBytes += amounts.decodedBytes
    }
    this.#shares.add(used.tenant?.shares ?? [], amounts)
  }

  /** The usage of a logical cluster, with its tenant as soon as its LogicalCluster is known. */
  #usageOf(cluster: ClusterName): ClusterUsage {
    const used = this.#clusters.get(cluster) ?? new ClusterUsage()
    this.#clusters.set(cluster, used)
    if (used.tenant === undefined && cluster !== 'root') this.#findTenant(cluster, used)
    return used
  }

  #findTenant(cluster: ClusterName, used: ClusterUsage): void {
    const home = this.#directory.logicalCluster(cluster)
    if (home === undefined) return
    const known = (other: ClusterName): Tenant | undefined => this.#tenantIn(other)
    used.tenant = tenantOf(cluster, home, { known, share: who => this.#shares.of(who) })
    this.#shares.add(used.tenant.shares, used)
  }

  /** Undefined, too, for a logical cluster whose own tenant is being found: a restored one can name itself. */
  #tenantIn(cluster: ClusterName): Tenant | undefined {
    const known = this.#clusters.get(cluster)
    if (known !== undefined) return known.tenant
    return this.#directory.logicalCluster(cluster) && this.#usageOf(cluster).tenant
  }

  #countWorkspace(id: string, cluster: ClusterName, by: 1 | -1): void {
    const parent = this.#parents.get(id) ?? this.#directory.path(cluster)
    if (by > 0) this.#parents.set(id, parent)
    else this.#parents.delete(id)
    for (const path of ancestorsOf(parent)) {
      const count = this.below(path) + by
      if (count === 0) this.#below.delete(path)
      else this.#below.set(path, count)
    }
  }
}
