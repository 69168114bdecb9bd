import assert from 'node:assert/strict'
import { silent } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { resources } from '../../kcp/resources.ts'
import { bootstrap } from '../bootstrap/bootstrap.ts'
import { openMemoryStore } from '../store/memory.ts'
import { testShard } from '../testing/shard.ts'
import { joinRoot } from './join.ts'

const url = 'https://root.example.com'
const shard = { name: 'root', baseURL: url, externalURL: url, virtualWorkspaceURL: url }

describe('a shard that joins the tree of another one', () => {
  it('waits until the root shard has its exports, with their identities', async () => {
    const origin = openMemoryStore()
    const tenancy = await bootstrap({ store: origin, shard })
    const first = await testShard({ store: origin })
    const empty = await testShard()
    let lists = 0
    const storage: PeerClient['storage'] = ref => {
      const isLate = ref.resource === resources.apiExports.resource && ++lists === 1
      return (isLate ? empty : first).backend.storage(ref)
    }
    const { signal } = new AbortController()
    const store = openMemoryStore()
    const joined = await joinRoot({
      store,
      root: { storage } as PeerClient,
      origin: 'root',
      log: silent,
      signal,
    })
    assert.deepEqual([joined, lists], [tenancy, 2])
    await Promise.all([first.stop(), empty.stop(), store.close(), origin.close()])
  })
})
