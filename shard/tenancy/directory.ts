import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Informer, Informers } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import { pathAnnotation } from '../../kcp/annotations.ts'
import type { APIExport } from '../../kcp/apis.ts'
import type { LogicalCluster, Shard } from '../../kcp/core.ts'
import { logicalClusterName, onlyCluster } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import type { WorkspaceType } from '../../kcp/tenancy.ts'
import type { Peers } from './peer.ts'
import { type LocatedType, typeChain } from './typechain.ts'

/** Resolves a path to a logical cluster; the name of a logical cluster resolves to itself. */
export type ResolvePath = (path: string) => ClusterName | undefined

/** Looks up logical clusters, paths, exports, types and shards in memory. */
export interface ClusterDirectory {
  logicalCluster(cluster: ClusterName): LogicalCluster | undefined
  /** `root:org:team`; the cluster's name when it has no path. */
  path(cluster: ClusterName): string
  /** The logical cluster of the path of a reference: `from` without a path, undefined if it is not known. */
  referencedCluster(reference: { readonly path?: string }, from: ClusterName): ClusterName | undefined
  apiExport(cluster: ClusterName, name: string): APIExport | undefined
  bindingsIn(cluster: ClusterName): readonly Item[]
  /** The shards on which workspaces can be scheduled: this one and those that are connected. */
  shards(): readonly Shard[]
  /** A reference without a path is looked up in `from`, its ancestors and `root`. */
  workspaceType(
    reference: { readonly path?: string; readonly name: string },
    from: ClusterName,
  ): LocatedType | undefined
  /** The type after all types that it extends, each once. Throws `TypesInvalid` on a missing type or a cycle. */
  typeChain(start: LocatedType): readonly LocatedType[]
}

export interface DirectoryDeps {
  readonly informers: Informers
  readonly resolve: ResolvePath
  /** `workspacetypes` with the identity of root's tenancy export. */
  readonly workspaceTypes: ResourceRef
  /** `shards` with the identity of root's export, and which of them this process is. */
  readonly shards: ResourceRef
  readonly shard: string
  /** The reachable other shards. */
  readonly peers: Peers
}

export function createDirectory(deps: DirectoryDeps): ClusterDirectory {
  const { informers, resolve } = deps
  const clusters = informers.for(resources.logicalClusters)
  const exports = informers.for(resources.apiExports)
  const bindings = informers.for(resources.apiBindings)
  const types = informers.for(deps.workspaceTypes)
  const shards = informers.for(deps.shards)
  const path = (cluster: ClusterName): string =>
    clusters.get(cluster, '', logicalClusterName)?.meta.annotations[pathAnnotation] ?? cluster
  const referencedCluster: ClusterDirectory['referencedCluster'] = (reference, from) => {
    if (!reference.path) return from
    return reference.path === 'root'
      ? 'root'
      : (resolve(reference.path) ?? onOtherShards(deps, reference.path))
  }
  const typeIn = (cluster: ClusterName, name: string): LocatedType | undefined => {
    const type = objectIn<WorkspaceType>(types, cluster, name)
    return type && { cluster, path: path(cluster), type }
  }
  const workspaceType: ClusterDirectory['workspaceType'] = (reference, from) => {
    const places = reference.path ? [reference.path] : upward(path(from))
    for (const place of places) {
      const cluster = referencedCluster({ path: place }, from)
      const found = cluster === undefined ? undefined : typeIn(cluster, reference.name)
      if (found) return found
    }
    return undefined
  }
  return {
    logicalCluster: cluster => objectIn<LogicalCluster>(clusters, cluster, logicalClusterName),
    path,
    referencedCluster,
    apiExport: (cluster, name) => objectIn<APIExport>(exports, cluster, name),
    bindingsIn: cluster => bindings.list(cluster),
    shards: () =>
      [deps.shard, ...deps.peers.keys()].flatMap(name => objectIn<Shard>(shards, 'root', name) ?? []),
    workspaceType,
    typeChain: start => typeChain(start, workspaceType),
  }
}

const onOtherShards = ({ informers, peers }: DirectoryDeps, path: string): ClusterName | undefined =>
  peers.size === 0 ? undefined : amongCopies(informers, path)

/** Resolves a path of another shard, whose logical clusters are known, and not the tree; undefined if several have the path. */
export function amongCopies(informers: Informers, path: string): ClusterName | undefined {
  const clusters = informers.for(resources.logicalClusters)
  const named = clusters.get(path, '', logicalClusterName)
  return named?.key.cluster ?? onlyCluster(clusters.index(pathsOf)(path))
}

const pathsOf = ({ meta }: Item): readonly string[] => {
  const path = meta.annotations[pathAnnotation]
  return path === undefined ? [] : [path]
}

const objectIn = <T extends KubeObject>(
  informer: Informer,
  cluster: ClusterName,
  name: string,
): T | undefined => informer.get(cluster, '', name)?.object as T | undefined

/** `root:org:team` → itself, `root:org`, `root`; finally `root` for paths that begin with another segment. */
function upward(path: string): readonly string[] {
  const segments = path.split(':')
  const places = segments.map((_, i) => segments.slice(0, segments.length - i).join(':'))
  return places.includes('root') ? places : [...places, 'root']
}
