import { allow } from '../../framework/contract/authorizer.ts'
import { bootstrap } from '../bootstrap/bootstrap.ts'
import type { TenancyResources } from '../controllers/host.ts'
import { kcpParts } from '../kcp.ts'
import { openMemoryStore } from '../store/memory.ts'
import { type TestShard, testShard } from './shard.ts'

const url = 'https://localhost:6443'
const addresses = { name: 'root', baseURL: url, externalURL: url, virtualWorkspaceURL: url }

/** A shard with the controllers of kcp, which run, in a tree of its own. */
export interface TestKcpShard {
  readonly shard: TestShard
  readonly tenancy: TenancyResources
  stop(): Promise<void>
}

/** Starts a shard over a memory store, on which everything is allowed. */
export async function testKcpShard(rootCA = ''): Promise<TestKcpShard> {
  const store = openMemoryStore()
  const tenancy = await bootstrap({ store, shard: addresses })
  const shard = await testShard({
    store,
    authorizer: () => ({ authorize: async () => allow('') }),
    ...kcpParts({ tenancy, shard: addresses, rootCA }),
  })
  const running = shard.run()
  return {
    shard,
    tenancy,
    async stop() {
      await shard.stop()
      await running
      await store.close()
    },
  }
}
