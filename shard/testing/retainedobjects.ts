// Prints the retained objects of a process before and after workspaces were created and deleted. A separate program,
// because a test process has other maps than those of the shard.
import { queryObjects } from 'node:v8'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { APIExport } from '../../kcp/apis.ts'
import { resources } from '../../kcp/resources.ts'
import type { Workspace } from '../../kcp/tenancy.ts'
import { CachedItem } from '../cache/item.ts'
import { ResourceCache } from '../cache/resource.ts'
import { openMemoryStore } from '../store/memory.ts'
import { openKcpShard } from './kcpshard.ts'
import { until } from './shard.ts'

const at = (cluster: string, name: string, namespace = '') => ({ cluster, namespace, name })

/** Workspaces below one other, and how often all of them are created and deleted. */
const children = 12
const times = 2

const store = openMemoryStore({ seconds: 0, commits: 1 })
const { shard, tenancy } = await openKcpShard({ store })
const running = shard.run()

const find = <T extends KubeObject>(ref: typeof resources.apiExports, cluster: string, name: string) =>
  shard.informers.for(ref).get(cluster, '', name)?.object as T | undefined

async function grow(parent: string, name: string): Promise<string> {
  await shard.client.create(tenancy.workspaces, at(parent, name), {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name },
    spec: { type: { name: 'universal', path: 'root' } },
  })
  return until(() => {
    const found = find<Workspace>(tenancy.workspaces, parent, name)
    return found?.status?.phase === 'Ready' ? found.spec?.cluster : undefined
  })
}

const schema = {
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { name: 'v1.widgets.example.io' },
  spec: {
    group: 'example.io',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: { type: 'object' } }],
  },
}
const exported = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name: 'widgets' },
  spec: {
    resources: [{ group: 'example.io', name: 'widgets', schema: schema.metadata.name }],
    permissionClaims: [{ group: '', resource: 'configmaps', verbs: ['*'] }],
  },
}
const binding = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: 'widgets' },
  spec: {
    reference: { export: { path: 'root:provider', name: 'widgets' } },
    permissionClaims: [
      {
        group: '',
        resource: 'configmaps',
        verbs: ['*'],
        selector: { matchAll: true },
        state: 'Accepted',
      },
    ],
  },
}
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'default' } }

async function provide(): Promise<void> {
  const provider = await grow('root', 'provider')
  await shard.client.create(resources.apiResourceSchemas, at(provider, schema.metadata.name), schema)
  await shard.client.create(resources.apiExports, at(provider, 'widgets'), exported)
  await until(() => find<APIExport>(resources.apiExports, provider, 'widgets')?.status?.identityHash)
}

async function fill(cluster: string): Promise<void> {
  await shard.client.create(resources.apiBindings, at(cluster, 'widgets'), binding)
  await shard.client.create(resources.configMaps, at(cluster, 'c', 'default'), configMap)
}

/** Resolves when the watch ends. */
async function watch(cluster: string): Promise<void> {
  const query = { cluster, initialEvents: true, bookmarks: true }
  const ctx = shard.context(resources.configMaps, cluster)
  for await (const _ of shard.backend.storage(resources.configMaps).watch(ctx, query));
}

/** Creates a tree of workspaces with bindings, claims and watches, then deletes it. */
async function live(): Promise<void> {
  const top = await grow('root', 'top')
  const below = await Promise.all(Array.from({ length: children }, (_, i) => grow(top, `w${i}`)))
  await Promise.all(below.map(fill))
  const watches = below.map(watch)
  await shard.client.delete(tenancy.workspaces, at('root', 'top'))
  await until(() => (find(tenancy.workspaces, 'root', 'top') === undefined ? true : undefined))
  await Promise.all(watches)
  for (const controller of shard.controllers) await controller.idle()
}

/** Simulates fifteen minutes without requests: the history expires. */
async function rest(): Promise<void> {
  for (let minute = 0; minute <= 15; minute++) for (const resource of shard.cache.resources()) resource.age()
  await shard.store.compact(shard.store.revision)
}

/** The number of entries of all maps and sets of the process, and of objects of some kinds. */
async function retained() {
  await rest()
  const entries = (kind: typeof Map | typeof Set): number =>
    queryObjects(kind, { format: 'summary' })
      // Regular expressions keep internal maps that grow while they are used.
      .filter(text => !/^Map\(\d+\) \{\s*-?\d+ =>/.test(text))
      .map(text => Number(/^(?:Map|Set)\((\d+)\)/.exec(text)?.[1] ?? 0))
      .reduce((sum, size) => sum + size, 0)
  const count = (kind: Parameters<typeof queryObjects>[0]): number => queryObjects(kind, { format: 'count' })
  return {
    entries: entries(Map) + entries(Set),
    items: count(CachedItem),
    resources: count(ResourceCache),
    signals: count(AbortSignal),
  }
}

await provide()
await live()
// The first measurement creates objects itself.
await retained()
const before = await retained()
for (let time = 0; time < times; time++) await live()
const after = await retained()
process.stdout.write(JSON.stringify({ before, after, made: times * (children + 1) }))
await shard.stop()
await running
await store.close()
