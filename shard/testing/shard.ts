import { noOpinion } from '../../framework/contract/authorizer.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import { silent } from '../../framework/contract/log.ts'
import { loopbackContext } from '../../framework/contract/loopback.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { openShard, type Shard, type ShardOptions } from '../index.ts'
import { openMemoryStore } from '../store/memory.ts'
import type { Store } from '../store/store.ts'

/** A shard over a memory store, with helpers for tests. */
export interface TestShard extends Shard {
  readonly store: Store
  /** Warnings of all requests so far. */
  readonly warnings: string[]
  context(ref: ResourceRef, cluster: string): RequestContext
  /** Creates a logical cluster. */
  addCluster(cluster: string): Promise<void>
  stop(): Promise<void>
}

type Overrides = Partial<Omit<ShardOptions, 'signal' | 'log'>>

/** Opens a shard; its controllers start when `run` is called. */
export async function testShard(overrides: Overrides = {}): Promise<TestShard> {
  const stop = new AbortController()
  const warnings: string[] = []
  const store = overrides.store ?? openMemoryStore()
  const authorizer = () => ({ authorize: async () => noOpinion('') })
  const shard = await openShard({ authorizer, ...overrides, store, log: silent, signal: stop.signal })
  const context = (resource: ResourceRef, cluster: string): RequestContext => {
    const ctx = loopbackContext({ verb: 'get', resource, cluster, signal: stop.signal, log: silent })
    return { ...ctx, record: { ...ctx.record, warn: text => void warnings.push(text) } }
  }
  return {
    ...shard,
    store,
    warnings,
    context,
    async addCluster(cluster) {
      await shard.client.create(
        resources.logicalClusters,
        { cluster, namespace: '', name: 'cluster' },
        logicalCluster,
      )
    },
    async stop() {
      stop.abort()
      shard.close()
      if (overrides.store === undefined) await store.close()
    },
  }
}

const logicalCluster: KubeObject = {
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'LogicalCluster',
  metadata: { name: 'cluster' },
  spec: {},
}

/** Waits until `ask` returns a value; it is called in every turn of the event loop. */
export async function until<T>(ask: () => T | undefined): Promise<T> {
  for (;;) {
    const answer = ask()
    if (answer !== undefined) return answer
    await new Promise(setImmediate)
  }
}
