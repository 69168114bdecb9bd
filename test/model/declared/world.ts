import { authorizationParts } from '../../../cmd/authorization/authorization.ts'
import { silent } from '../../../framework/contract/log.ts'
import { loopbackContext } from '../../../framework/contract/loopback.ts'
import type { KubeObject, ResourceRef, ResourceStorage, VirtualWorkspace } from '../../../framework/index.ts'
import { exportHash, exportLabel } from '../../../kcp/labels.ts'
import { exportedResources, resources } from '../../../kcp/resources.ts'
import { bootstrap } from '../../../shard/bootstrap/bootstrap.ts'
import { claimsDecorator } from '../../../shard/claims/index.ts'
import { openMemoryStore } from '../../../shard/store/memory.ts'
import { type TestShard, testShard } from '../../../shard/testing/shard.ts'
import { views } from '../../../virtual/views/index.ts'
import { annotation, params, resourceOf, type Spec, type Tier, type Widget } from './specs.ts'

export const provider = 'provider'
export const consumers = ['one1', 'two2', 'three1']
const identity = 'widgets-identity'
const url = 'https://localhost:6443'

const schema: KubeObject = {
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { name: 'v1.widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: { color: { type: 'string' }, token: { type: 'string' }, size: { type: 'integer' } },
            },
          },
        },
      },
    ],
  },
}

const apiExport: KubeObject = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name: 'widgets' },
  spec: {
    resources: [
      { group: 'example.com', name: 'widgets', schema: 'v1.widgets.example.com', storage: { crd: {} } },
    ],
  },
  status: { identityHash: identity },
}

const bindingOf = (UID: string): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: {
    name: 'widgets',
    labels: { [exportLabel]: exportHash({ cluster: provider, name: 'widgets' }) },
  },
  spec: { reference: { export: { path: provider, name: 'widgets' } } },
  status: {
    apiExportClusterName: provider,
    phase: 'Bound',
    boundResources: [
      {
        group: 'example.com',
        resource: 'widgets',
        schema: { name: 'v1.widgets.example.com', UID, identityHash: identity },
        storageVersions: ['v1'],
      },
    ],
  },
})

const logicalCluster = (
  more: object = {},
  annotations: Readonly<Record<string, string>> = {},
): KubeObject => ({
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'LogicalCluster',
  metadata: { name: 'cluster', annotations },
  spec: { ...more },
  status: { phase: 'Ready' },
})

const noPatch = { dryRun: false, fieldManager: 'model' }

/** A provider with Views, and the widgets of its consumers. */
export class DeclaredWorld {
  readonly shard: TestShard
  readonly view: VirtualWorkspace
  readonly #stop = new AbortController()
  readonly #workspaces: ResourceRef

  private constructor(shard: TestShard, workspaces: ResourceRef) {
    this.shard = shard
    this.#workspaces = workspaces
    this.view = views(shard)
    void this.view.run?.(() => undefined, this.#stop.signal)
  }

  static async start(): Promise<DeclaredWorld> {
    const store = openMemoryStore()
    const addresses = { name: 'root', baseURL: url, externalURL: url, virtualWorkspaceURL: url }
    await bootstrap({ store, shard: addresses })
    const { authorizer } = authorizationParts()
    const shard = await testShard({ store, authorizer, decorate: claimsDecorator })
    const { client, content, informers } = shard
    const at = (cluster: string, resource: ResourceRef, object: KubeObject) => ({ cluster, resource, object })
    await content.add([
      at(provider, resources.logicalClusters, logicalCluster()),
      at(provider, resources.apiExports, apiExport),
    ])
    const key = { cluster: provider, namespace: '', name: schema.metadata.name ?? '' }
    const made = await client.create(resources.apiResourceSchemas, key, schema)
    const tenancy = informers.for(resources.apiExports).get('root', '', 'tenancy.kcp.io')?.object
    const { identityHash = '' } = (tenancy?.status ?? {}) as { readonly identityHash?: string }
    const workspaces = { ...exportedResources.workspaces, identity: identityHash }
    for (const cluster of consumers) {
      await content.add([
        at('root', workspaces, {
          apiVersion: 'tenancy.kcp.io/v1alpha1',
          kind: 'Workspace',
          metadata: { name: cluster },
          spec: { cluster },
          status: { phase: 'Ready' },
        }),
      ])
      const uid = informers.for(workspaces).get('root', '', cluster)?.meta.uid
      const owner = {
        cluster: 'root',
        name: cluster,
        uid,
        apiVersion: 'tenancy.kcp.io/v1alpha1',
        resource: 'workspaces',
      }
      const path = { 'kcp.io/path': `root:${cluster}` }
      await content.add([
        at(cluster, resources.logicalClusters, logicalCluster({ owner }, path)),
        at(cluster, resources.apiBindings, bindingOf(made.metadata.uid ?? '')),
      ])
    }
    return new DeclaredWorld(shard, workspaces)
  }

  /** The widgets of all consumers, as they are stored. */
  get widgets(): ResourceStorage {
    return this.shard.backend.storage({ group: 'example.com', version: 'v1', resource: 'widgets', identity })
  }

  contextOf(
    user: string,
    cluster: string,
    verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'delete' = 'list',
  ) {
    const resource = { group: 'example.com', version: 'v1', resource: 'widgets' }
    const ctx = loopbackContext({ verb, resource, cluster, signal: this.#stop.signal, log: silent })
    return { ...ctx, user: { name: user, groups: [] } }
  }

  async write(widget: Widget, exists: boolean): Promise<void> {
    const key = { cluster: widget.cluster, namespace: '', name: widget.name }
    const ctx = this.contextOf('writer', widget.cluster)
    const object = objectOf(widget)
    if (!exists) await this.widgets.create(ctx, key, object, noPatch)
    else
      await this.widgets.update(
        ctx,
        key,
        ({ object: { metadata } }) => {
          const { resourceVersion: _, ...own } = metadata
          return { ...object, metadata: { ...own, ...object.metadata } }
        },
        noPatch,
      )
  }

  async remove({ cluster, name }: Widget): Promise<void> {
    const ctx = this.contextOf('writer', cluster)
    const key = { cluster, namespace: '', name }
    await this.widgets.delete(ctx, key, () => undefined, { dryRun: false })
  }

  async label(cluster: string, tier: Tier): Promise<void> {
    const key = { cluster: 'root', namespace: '', name: cluster }
    await this.shard.client.update(this.#workspaces, key, object => ({
      ...object,
      metadata: { ...object.metadata, labels: tier === undefined ? {} : { tier } },
    }))
  }

  async declare(name: string, spec: Spec): Promise<void> {
    const key = { cluster: provider, namespace: '', name }
    const object: KubeObject = {
      apiVersion: 'views.oriel.dev/v1alpha1',
      kind: 'View',
      metadata: { name },
      spec: { source: { apiExport: 'widgets' }, params, resources: [resourceOf(spec)] },
    }
    const found = this.shard.informers.for(resources.views).get(provider, '', name)
    if (found === undefined) await this.shard.client.create(resources.views, key, object)
    else await this.shard.client.update(resources.views, key, old => ({ ...old, spec: object.spec }))
  }

  /** The widgets that a View serves. */
  storageOf(view: string): ResourceStorage {
    const storage = this.view
      .apis({ owner: provider, view }, '*')
      ?.find('example.com', 'v1', 'widgets')?.storage
    if (storage === undefined) throw new Error(`the View ${view} is not served`)
    return storage
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.shard.stop()
    await this.shard.store.close()
  }
}

export const objectOf = ({ name, color, size, team, token }: Widget): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, labels: { team } },
  spec: { ...(color !== undefined && { color }), size, token },
})

/** What a client reads of an object, in the form of the model. */
export function readOf({ metadata, spec }: KubeObject): string {
  const { labels = {}, annotations = {}, name } = metadata
  const { color = '', size, token = '' } = spec as { color?: string; size: number; token?: string }
  const own = [annotations['kcp.io/cluster'], name, color, size]
  return JSON.stringify([...own, labels.team ?? '', token, annotations[annotation] ?? ''])
}

export const idOf = ({ metadata }: KubeObject): string =>
  `${metadata.annotations?.['kcp.io/cluster']}/${metadata.name}`
