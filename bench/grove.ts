import type { KubeObject } from '../framework/object.ts'
import type { Workspace } from '../shard/controllers/objects.ts'
import type { Shard } from '../shard/index.ts'
import { create, forEach, workspacesRef } from './tenants.ts'

/** Workspaces below `root`: flat, or each with so many children. */
export interface Grove {
  readonly count: number
  /** 0: all are children of root. */
  readonly branching: number
}

const universal = { type: { name: 'universal', path: 'root' } }
const workspace = (name: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: universal,
})

/** What a quarter of an hour without any change does: watches from before can no longer be resumed. */
export function forget({ cache }: Shard): void {
  for (let minute = 0; minute <= 15; minute++) for (const resource of cache.resources()) resource.age()
}

/** Resolves when so many workspaces have reached a state; followed by events, so that waiting for thousands costs nothing. */
function counted(
  shard: Shard,
  count: number,
  isThere: (type: string, phase: string) => boolean,
): Promise<void> {
  const seen = new Set<string>()
  return new Promise(resolve => {
    const stop = shard.informers.for(workspacesRef(shard)).onEvent(({ type, item }) => {
      if (!isThere(type, item.meta.labels['tenancy.kcp.io/phase'] ?? '')) return
      seen.add(`${item.key.cluster}/${item.key.name}`)
      if (seen.size < count) return
      setImmediate(() => stop())
      resolve()
    })
  })
}

/** Makes the workspaces, parents first, 64 at a time, each child when its parent is Ready; returns the seconds it took. */
export async function grow(shard: Shard, { count, branching }: Grove): Promise<number> {
  const ref = workspacesRef(shard)
  const begin = performance.now()
  const ready = counted(shard, count, (_, phase) => phase === 'Ready')
  const clusters = new Map<string, string>()
  const waiting = new Map<string, (() => void)[]>()
  const stop = shard.informers.for(ref).onEvent(({ item }) => {
    const { name } = item.key
    if (item.meta.labels['tenancy.kcp.io/phase'] !== 'Ready') return
    clusters.set(name, (item.object as Workspace).spec?.cluster ?? '')
    for (const resolve of waiting.get(name) ?? []) resolve()
    waiting.delete(name)
  })
  const clusterOf = async (name: string): Promise<string> => {
    if (!clusters.has(name))
      await new Promise<void>(resolve => waiting.set(name, [...(waiting.get(name) ?? []), resolve]))
    return clusters.get(name) ?? ''
  }
  await forEach(count, async index => {
    const name = `w${index}`
    const parent = branching === 0 || index < branching ? undefined : Math.floor(index / branching) - 1
    const cluster = parent === undefined ? 'root' : await clusterOf(`w${parent}`)
    await create(shard, ref, cluster, workspace(name))
    if (branching === 0) await clusterOf(name)
  })
  await ready
  stop()
  return (performance.now() - begin) / 1000
}

/** Deletes everything that `grow` made, as an administrator would: what is directly below root. Returns the seconds. */
export async function fell(shard: Shard, { count }: Grove): Promise<number> {
  const ref = workspacesRef(shard)
  const begin = performance.now()
  const gone = counted(shard, count, type => type === 'DELETED')
  const tops = shard.informers
    .for(ref)
    .list('root')
    .filter(({ key }) => /^w\d+$/.test(key.name))
  await forEach(tops.length, async index => {
    const top = tops[index]
    if (top !== undefined) await shard.client.delete(ref, top.key)
  })
  await gone
  return (performance.now() - begin) / 1000
}
