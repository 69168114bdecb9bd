import assert from 'node:assert/strict'
import type { ReviewElsewhere } from '../../framework/authn/index.ts'
import { originAnnotation } from '../../framework/contract/item.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { StatusError, serviceUnavailable } from '../../framework/meta/errors.ts'
import {
  incomingAnnotation,
  leavingAnnotation,
  migratingAnnotation,
  shardAnnotation,
} from '../../kcp/annotations.ts'
import { resources } from '../../kcp/resources.ts'
import { encodeStored, storageKey } from '../cache/codec.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import { type TestShard, testShard } from '../testing/shard.ts'
import { otherTokens } from './othertokens.ts'

type Annotations = Readonly<Record<string, string>>
type Review = () => Promise<object>

const accepts: Review = async () => ({ status: { authenticated: true } })
const refuses: Review = async () => ({ status: {} })
const moving: Review = () => Promise.reject(serviceUnavailable('logical cluster is being migrated', 1))
const silent: Review = () => Promise.reject(new StatusError(502, 'BadGateway', 'connection refused'))
const hangs: Review = () => new Promise(() => undefined)
const unknown: Review = () => Promise.reject(new StatusError(403, 'Forbidden', 'forbidden'))

describe('tokens of service accounts of another shard', () => {
  let shard: TestShard
  before(async () => {
    shard = await testShard()
  })
  after(() => shard.stop())

  /** Stores a LogicalCluster. */
  async function put(cluster: string, annotations: Annotations): Promise<void> {
    const key = storageKey(storedResourceOf(resources.logicalClusters), {
      cluster,
      namespace: '',
      name: 'cluster',
    })
    const metadata = { name: 'cluster', annotations }
    const value = encodeStored({ apiVersion: 'core.kcp.io/v1alpha1', kind: 'LogicalCluster', metadata })
    await shard.content.transfer([{ key, value }])
  }

  function reviewIn(cluster: string, ...reviews: readonly Review[]): ReviewElsewhere | undefined {
    const peers = reviews.map(post => ({ post }) as unknown as PeerClient)
    const named = new Map(peers.map((peer, i) => [`shard-${i}`, peer]))
    return otherTokens(shard, named)(cluster)
  }
  const isUnavailable = (error: unknown): boolean => error instanceof StatusError && error.code === 503

  it('are reviewed by the shard of the logical cluster, or by all where it is not known', async () => {
    await put('far', { [originAnnotation]: 'shard-0', [shardAnnotation]: 'shard-1' })
    assert.equal(await reviewIn('far', accepts, refuses)?.('token'), false)
    assert.equal(await reviewIn('far', refuses, accepts)?.('token'), true)
    assert.equal(await reviewIn('unknown', unknown, accepts)?.('token'), true)
    assert.equal(await reviewIn('unknown', unknown, silent)?.('token'), false)
  })

  it('are accepted by their shard while another shard hangs', async () => {
    assert.equal(await reviewIn('unknown', hangs, accepts)?.('token'), true)
  })

  it('are neither accepted nor refused while the logical cluster moves', async () => {
    assert.equal(await reviewIn('unknown', moving, accepts)?.('token'), true)
    await assert.rejects(reviewIn('unknown', unknown, moving)?.('token') ?? assert.fail(), isUnavailable)
  })

  it('of an own logical cluster are reviewed here, but not while only a part of its objects is here', async () => {
    const migrating = { [migratingAnnotation]: 'root:m' }
    await put('own', {})
    assert.equal(reviewIn('own', accepts), undefined)
    await put('own', migrating)
    assert.equal(reviewIn('own', accepts), undefined)
    for (const annotation of [incomingAnnotation, leavingAnnotation]) {
      await put('own', { ...migrating, [annotation]: 'shard-0' })
      await assert.rejects(reviewIn('own', accepts)?.('token') ?? assert.fail(), isUnavailable)
    }
  })
})
