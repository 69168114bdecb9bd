import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { APIBinding, APIExport } from '../../kcp/apis.ts'
import { resources } from '../../kcp/resources.ts'
import type { Workspace } from '../../kcp/tenancy.ts'
import type { Shard } from '../../shard/index.ts'
import { bindingTo, exported, exportName, schema, widget, widgetsRef, workspace } from './objects.ts'

/** The number of concurrent requests. */
const atOnce = 64

/** The provider of widgets, and its consumers. */
export interface Tenants {
  readonly provider: string
  readonly identity: string
  readonly consumers: readonly string[]
}

export const create = (
  { client }: Pick<Shard, 'client'>,
  ref: ResourceRef,
  cluster: string,
  object: KubeObject,
): Promise<KubeObject> => {
  const { name = '', namespace = '' } = object.metadata
  return client.create(ref, { cluster, namespace, name }, object)
}

/** Runs `work` for 0 … count-1, some at a time. */
export async function forEach(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/**
 * The first object with this name that satisfies the condition; follows events, so that waiting for thousands costs
 * nothing.
 */
function seen<T extends KubeObject>(
  { informers }: Shard,
  ref: ResourceRef,
  satisfies: (object: T) => boolean,
): (cluster: string, name: string) => Promise<T> {
  const waiting = new Map<string, (object: T) => void>()
  informers.for(ref).onEvent(({ item }) => {
    const { cluster, name } = item.key
    const resolve = waiting.get(`${cluster}/${name}`)
    if (resolve === undefined || !satisfies(item.object as T)) return
    waiting.delete(`${cluster}/${name}`)
    resolve(item.object as T)
  })
  return (cluster, name) =>
    new Promise(resolve => {
      const there = informers.for(ref).get(cluster, '', name)?.object as T | undefined
      if (there !== undefined && satisfies(there)) resolve(there)
      else waiting.set(`${cluster}/${name}`, resolve)
    })
}

export function workspacesRef({ informers }: Shard): ResourceRef {
  const tenancy = informers.for(resources.apiExports).get('root', '', 'tenancy.kcp.io')?.object
  const identity = (tenancy as APIExport | undefined)?.status?.identityHash
  if (identity === undefined) throw new Error('root exports no workspaces')
  return { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces', identity }
}

/** Workspaces below root, each Ready; returns their logical clusters. */
export async function makeWorkspaces(shard: Shard, names: readonly string[]): Promise<readonly string[]> {
  const ref = workspacesRef(shard)
  const ready = seen<Workspace>(shard, ref, ({ status }) => status?.phase === 'Ready')
  const clusters: string[] = []
  await forEach(names.length, async index => {
    const name = names[index] ?? ''
    await create(shard, ref, 'root', workspace(name))
    clusters[index] = (await ready('root', name)).spec?.cluster ?? ''
  })
  return clusters
}

/** A provider that exports widgets, and this many workspaces that bind them. */
export async function makeTenants(shard: Shard, count: number): Promise<Tenants> {
  const [provider = ''] = await makeWorkspaces(shard, ['provider'])
  const valid = seen<APIExport>(shard, resources.apiExports, ({ status }) => Boolean(status?.identityHash))
  await create(shard, resources.apiResourceSchemas, provider, schema)
  await create(shard, resources.apiExports, provider, exported)
  const identity = (await valid(provider, exportName)).status?.identityHash ?? ''
  const names = Array.from({ length: count }, (_, i) => `consumer-${i}`)
  const consumers = await makeWorkspaces(shard, names)
  const bound = seen<APIBinding>(shard, resources.apiBindings, ({ status }) => status?.phase === 'Bound')
  await forEach(count, async i => {
    const cluster = consumers[i] ?? ''
    await create(shard, resources.apiBindings, cluster, bindingTo('root:provider'))
    await bound(cluster, exportName)
  })
  return { provider, identity, consumers }
}

/** Widgets, spread evenly over the consumers. */
export async function fill(shard: Shard, { identity, consumers }: Tenants, count: number): Promise<void> {
  await forEach(count, async i => {
    const cluster = consumers[i % consumers.length] ?? ''
    await create(shard, widgetsRef(identity), cluster, widget(`widget-${i}`))
  })
}
