import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { findCondition } from '../../kcp/conditions.ts'
import type { LogicalCluster, LogicalClusterPhase } from '../../kcp/core.ts'
import { resources } from '../../kcp/resources.ts'
import type { Workspace } from '../../kcp/tenancy.ts'
import type { TenancyResources } from '../controllers/host.ts'
import { openKcpShard } from './kcpshard.ts'
import { type TestShard, until } from './shard.ts'

export const at = (cluster: string, name: string, namespace = '') => ({ cluster, namespace, name })

/** The request for a workspace. */
interface Asked {
  readonly parent: string
  readonly name: string
  now(): Workspace | undefined
  /** Resolves when the workspace satisfies the condition. */
  when(satisfies: (workspace: Workspace) => boolean): Promise<Workspace>
  home(): LogicalCluster | undefined
  whenGone(): Promise<unknown>
  remove(): Promise<void>
}

export const isIn =
  (phase: LogicalClusterPhase) =>
  ({ status }: Workspace): boolean =>
    status?.phase === phase

export const configMap = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
})

export const finished = 'ControllersFinished'

export const waitsFor =
  (reason: string) =>
  ({ status }: Workspace): boolean =>
    findCondition(status?.conditions, finished)?.reason === reason

/** A shard with the types `waiting` (with an initializer), `ending` (with a terminator), and `both`. */
export interface Life {
  shard: TestShard
  tenancy: TenancyResources
  running: Promise<void>
  /** The number of workspaces that were created. */
  made: number
}

/** Opens one for all tests of a suite. */
export function life(): Life {
  const scene = { made: 0 } as Life
  before(() => begin(scene))
  after(async () => {
    await scene.shard.stop()
    await scene.running
    await scene.shard.store.close()
  })
  return scene
}

async function begin(scene: Life): Promise<void> {
  const { shard, tenancy } = await openKcpShard()
  Object.assign(scene, { shard, tenancy, running: shard.run() })
  const universal = { extend: { with: [{ name: 'universal', path: 'root' }] } }
  await workspaceType(scene, 'waiting', { ...universal, initializer: true })
  await workspaceType(scene, 'ending', { ...universal, terminator: true })
  await workspaceType(scene, 'both', { extend: { with: [{ name: 'waiting' }, { name: 'ending' }] } })
}

export const find = <T extends KubeObject>(
  scene: Life,
  ref: ResourceRef,
  cluster: string,
  name: string,
  namespace = '',
) => scene.shard.informers.for(ref).get(cluster, namespace, name)?.object as T | undefined

export const create = (
  scene: Life,
  ref: ResourceRef,
  cluster: string,
  object: KubeObject,
): Promise<KubeObject> =>
  scene.shard.client.create(ref, at(cluster, object.metadata.name ?? '', object.metadata.namespace), object)

export const workspaceType = (scene: Life, name: string, spec: object): Promise<KubeObject> =>
  create(scene, scene.tenancy.workspaceTypes, 'root', {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'WorkspaceType',
    metadata: { name },
    spec,
  })

export const workspace = (scene: Life, type: string, spec: object = {}): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: `w${scene.made++}` },
  spec: { type: { name: type, path: 'root' }, ...spec },
})

export async function ask(scene: Life, object: KubeObject, parent = 'root'): Promise<Asked> {
  const { metadata, spec } = await create(scene, scene.tenancy.workspaces, parent, object)
  const { name = '' } = metadata
  const { cluster = '' } = (spec ?? {}) as { cluster?: string }
  const now = () => find<Workspace>(scene, scene.tenancy.workspaces, parent, name)
  return {
    parent,
    name,
    now,
    when: satisfies =>
      until(() => {
        const found = now()
        return found !== undefined && satisfies(found) ? found : undefined
      }),
    home: () =>
      find<LogicalCluster>(scene, resources.logicalClusters, now()?.spec?.cluster ?? cluster, 'cluster'),
    whenGone: () => until(() => (now() === undefined ? true : undefined)),
    remove: () => scene.shard.client.delete(scene.tenancy.workspaces, at(parent, name)),
  }
}

export async function ready(
  scene: Life,
  type: string,
  parent = 'root',
): Promise<{ asked: Asked; cluster: string }> {
  const asked = await ask(scene, workspace(scene, type), parent)
  const { spec } = await asked.when(isIn('Ready'))
  return { asked, cluster: spec?.cluster ?? '' }
}

/** Removes the finalizer of a ConfigMap, as its controller would. */
export const release = (scene: Life, cluster: string, name: string): Promise<KubeObject> =>
  scene.shard.client.update(resources.configMaps, at(cluster, name, 'default'), object => ({
    ...object,
    metadata: { ...object.metadata, finalizers: [] },
  }))

/** Adds or removes finalizers of other controllers on a workspace. */
export const hold = (scene: Life, { parent, name }: Asked, others: readonly string[]): Promise<KubeObject> =>
  scene.shard.client.update(scene.tenancy.workspaces, at(parent, name), ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, finalizers: ['core.kcp.io/logicalcluster', ...others] },
  }))

/** Removes an initializer or terminator, as its controller does when it has finished. */
export const leave = (
  scene: Life,
  cluster: string,
  list: 'initializers' | 'terminators',
  own: string,
): Promise<KubeObject> =>
  scene.shard.client.update(
    { ...resources.logicalClusters, subresource: 'status' },
    at(cluster, 'cluster'),
    current => {
      const { status = {} } = current as LogicalCluster
      return {
        ...current,
        status: { ...status, [list]: (status[list] ?? []).filter(each => each !== own) },
      }
    },
  )
