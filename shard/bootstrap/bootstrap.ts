import type { ResourceRef } from '../../framework/contract/backend.ts'
import { tenancyGroup, topologyGroup } from '../../kcp/apigroups.ts'
import { exportedResources, shardsExport } from '../../kcp/resources.ts'
import type { TenancyResources } from '../controllers/host.ts'
import { applyManifests } from '../manifests/apply.ts'
import { type Store, StoreConflict } from '../store/store.ts'
import { bootstrapExports } from './exports.ts'
import { rootManifests, type ShardAddresses } from './root.ts'

export interface BootstrapOptions {
  readonly store: Store
  readonly shard: ShardAddresses
  /** The groups whose users may have a home workspace; absent: all authenticated users. */
  readonly homeCreators?: readonly string[]
}

/**
 * Creates the objects that every shard needs before it opens: the policy, `root`, and its exports with their
 * identities. One commit at the first start, usually none later. Returns the resources of the exports of root.
 */
export async function bootstrap(options: BootstrapOptions): Promise<TenancyResources> {
  for (;;) {
    await options.store.latest()
    try {
      return await fill(options)
    } catch (error) {
      // Another server of the installation was faster.
      if (!(error instanceof StoreConflict)) throw error
    }
  }
}

async function fill({
  store,
  shard,
  homeCreators = ['system:authenticated'],
}: BootstrapOptions): Promise<TenancyResources> {
  const exports = await bootstrapExports(store)
  const tenancy = tenancyResources(exports)
  const manifests = [
    ...exports.flatMap(each => each.manifests),
    ...rootManifests(tenancy, shard, homeCreators),
  ]
  await applyManifests(store, manifests)
  return tenancy
}

export interface ExportIdentity {
  readonly name: string
  readonly identity: string
}

/** The exports of root that the workspace tree needs. */
export const tenancyExports: readonly string[] = [tenancyGroup, topologyGroup, shardsExport]

/** Throws when one of `tenancyExports` is missing. */
export function tenancyResources(exports: readonly ExportIdentity[]): TenancyResources {
  const of = (ref: ResourceRef, from: string = ref.group): ResourceRef => {
    const identity = exports.find(({ name }) => name === from)?.identity
    if (identity === undefined) throw new TypeError(`root has no export ${from}`)
    return { ...ref, identity }
  }
  const { workspaces, workspaceTypes, partitions, partitionSets, shards } = exportedResources
  return {
    workspaces: of(workspaces),
    workspaceTypes: of(workspaceTypes),
    partitions: of(partitions),
    partitionSets: of(partitionSets),
    shards: of(shards, shardsExport),
  }
}
