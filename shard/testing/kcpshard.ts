import { allow } from '../../framework/contract/authorizer.ts'
import type { QuotaLimits } from '../admission/quota/quota.ts'
import { bootstrap } from '../bootstrap/bootstrap.ts'
import type { ShardOptions, TenancyResources } from '../controllers/host.ts'
import { kcpParts } from '../kcp.ts'
import { openMemoryStore } from '../store/memory.ts'
import type { Store } from '../store/store.ts'
import { type TestShard, testShard } from './shard.ts'

export const url = 'https://localhost:6443'
const addresses = { name: 'root', baseURL: url, externalURL: url, virtualWorkspaceURL: url }

/** A shard with the workspaces of kcp, in a tree of its own. */
interface KcpShard {
  readonly shard: TestShard
  readonly tenancy: TenancyResources
}

interface KcpShardOptions {
  /** Default: a new one in memory. Whoever has opened the shard closes it. */
  readonly store?: Store
  /** Default: everything is allowed. */
  readonly authorizer?: ShardOptions['authorizer']
  readonly rootCA?: string
  readonly quota?: QuotaLimits
}

const allowAll: ShardOptions['authorizer'] = () => ({ authorize: async () => allow('') })

/** Opens a shard with the admission of kcp; its controllers start when `run` is called. */
export async function openKcpShard(options: KcpShardOptions = {}): Promise<KcpShard> {
  const { store = openMemoryStore(), authorizer = allowAll, rootCA = '', quota } = options
  const tenancy = await bootstrap({ store, shard: addresses })
  const parts = kcpParts({ tenancy, shard: addresses, rootCA, ...(quota && { quota }) })
  return { shard: await testShard({ store, authorizer, ...parts }), tenancy }
}

/** A shard with the controllers of kcp, which run. */
export interface TestKcpShard extends KcpShard {
  stop(): Promise<void>
}

/** Starts a shard over a memory store, on which everything is allowed. */
export async function testKcpShard(rootCA = ''): Promise<TestKcpShard> {
  const opened = await openKcpShard({ rootCA })
  const { shard } = opened
  const running = shard.run()
  return {
    ...opened,
    async stop() {
      await shard.stop()
      await running
      await shard.store.close()
    },
  }
}
