import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import type { TestShard } from './shard.ts'

export const identity = 'a'.repeat(64)
export const widgets = { group: 'example.com', version: 'v1', resource: 'widgets' }

export const schemaBody = (more: object = {}): object => ({
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer', default: 3 } } },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
  ...more,
})

/** The version in which objects are stored. */
export const storageVersion = (name: string, schema: object = schemaBody()): object => ({
  name,
  served: true,
  storage: true,
  schema,
  subresources: { status: {} },
})

/** A version beside the one in which objects are stored. */
export const servedVersion = (name: string, schema?: object): object => ({
  ...storageVersion(name, schema),
  storage: false,
})

/** An APIResourceSchema of widgets. */
export const resourceSchema = (
  name: string,
  versions: readonly object[],
  group = 'example.com',
): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { name },
  spec: {
    group,
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Cluster',
    versions,
    ...(versions.length > 1 ? { conversion: { strategy: 'None' } } : {}),
  },
})

interface BoundAs {
  readonly group?: string
  readonly resource?: string
  readonly hash?: string
  readonly storageVersions?: readonly string[]
}

/** Binds a schema in a cluster, as the controller does: creates the binding if it is missing. */
export async function bindIn(
  shard: TestShard,
  cluster: string,
  { metadata: { name = '', uid } }: KubeObject,
  { group = 'example.com', resource = 'widgets', hash = identity, storageVersions = ['v1'] }: BoundAs = {},
): Promise<void> {
  const key = { cluster, namespace: '', name: 'widgets' }
  const isThere = shard.informers.for(resources.apiBindings).get(cluster, '', 'widgets') !== undefined
  if (!isThere) await shard.client.create(resources.apiBindings, key, binding)
  const bound = { group, resource, schema: { name, UID: uid, identityHash: hash }, storageVersions }
  await shard.client.update({ ...resources.apiBindings, subresource: 'status' }, key, current => ({
    ...current,
    status: { phase: 'Bound', boundResources: [bound] },
  }))
}

const binding: KubeObject = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: 'widgets' },
  spec: { reference: { export: { path: 'root:provider', name: 'widgets' } } },
}
