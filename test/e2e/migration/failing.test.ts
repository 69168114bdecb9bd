import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { needsLastingStore, needsOneProcess } from '../../support/notrun.ts'
import { eventually, kubectlFor } from '../../support/oriel.ts'
import { apply } from '../../support/tenants.ts'
import { conditionOf, openScene, type Scene } from './scene.ts'

const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
})

describe('a migration that does not get on', function () {
  this.timeout(240_000)
  let scene: Scene

  before(async () => {
    scene = await openScene()
  })
  after(() => scene.stop())

  it('closes nothing while its destination is unknown', async () => {
    const { kubectl, cluster } = await scene.tenant('root', 'nowhere', 'root')
    await scene.migrate('nowhere', cluster, 'gamma')
    const state = await eventually(
      async () => conditionOf(await scene.migration('nowhere'), 'OriginReady'),
      found => found !== undefined,
    )
    assert.equal(state?.reason, 'DestinationUnreachable')
    await apply(kubectl, configMap('written'))
  })

  it('fails for the shard where the logical cluster is, for root, and for one that moves already', async () => {
    const { cluster } = await scene.tenant('root', 'stays', 'root')
    await scene.migrate('same', cluster, 'root')
    await scene.migrate('root', 'root', 'beta')
    for (const [name, reason] of [
      ['same', 'SameShard'],
      ['root', 'LogicalClusterNotMovable'],
    ] as const) {
      const failed = await scene.reached(name, 'Failed')
      assert.equal(conditionOf(failed, 'OriginReady')?.reason, reason)
    }
  })

  it('says that no shard has the logical cluster', async () => {
    await scene.migrate('nothing', 'root:stays', 'beta')
    const state = await eventually(
      async () => conditionOf(await scene.migration('nothing'), 'OriginReady'),
      found => found !== undefined,
    )
    assert.equal(state?.reason, 'LogicalClusterNotFound')
    await scene.through('root')(['delete', 'logicalclustermigration', 'nothing', '--timeout=60s'])
  })

  it('closes nothing while its destination does not respond', async function () {
    needsOneProcess(this)
    const { kubectl, cluster } = await scene.tenant('root', 'unanswered', 'root')
    scene.shards.beta.pause()
    await scene.migrate('unanswered', cluster, 'beta')
    const state = await eventually(
      async () => conditionOf(await scene.migration('unanswered'), 'OriginReady'),
      found => found !== undefined,
    )
    assert.equal(state?.reason, 'DestinationUnreachable')
    await apply(kubectl, configMap('written'))
    scene.shards.beta.resume()
    await scene.reached('unanswered', 'Completed')
    await kubectl(['get', 'configmap', '-n', 'default', 'written'])
  })

  it('keeps the logical cluster closed while its destination does not copy, and open again when it is deleted', async () => {
    const { kubectl, cluster, path } = await scene.tenant('root', 'waiting', 'root')
    await apply(kubectl, configMap('before'))
    scene.gate.sever()
    await scene.migrate('waiting', cluster, 'beta')
    await scene.reached('waiting', 'Migrating')
    const closed = await scene.client(`/clusters/${path}/api/v1/configmaps`)
    assert.deepEqual([closed.status, closed.headers['retry-after']], [503, '1'])
    const resumed = await scene.client(`/clusters/${path}/api/v1/configmaps?resourceVersion=5`)
    assert.equal(resumed.status, 410)
    const patch = JSON.stringify({ spec: { destinationShard: 'gamma' } })
    const args = ['patch', 'logicalclustermigration', 'waiting', '--type=merge', '-p', patch]
    assert.match((await scene.through('root').try(args)).stderr, /spec is immutable/)
    await scene.through('root')(['delete', 'logicalclustermigration', 'waiting', '--timeout=60s'])
    await eventually(
      () => kubectl.try(['create', '-f', '-'], JSON.stringify(configMap('after'))),
      ({ code }) => code === 0,
    )
    scene.gate.heal()
  })

  it('removes nothing because its status says that the destination has it', async () => {
    const { kubectl, cluster } = await scene.tenant('root', 'claimed', 'root')
    await apply(kubectl, configMap('kept'))
    scene.gate.sever()
    await scene.migrate('claimed', cluster, 'beta')
    await scene.reached('claimed', 'Migrating')
    const patch = JSON.stringify({ status: { phase: 'OriginCleanup' } })
    const args = [
      'patch',
      'logicalclustermigration',
      'claimed',
      '--subresource=status',
      '--type=merge',
      '-p',
      patch,
    ]
    assert.match((await scene.through('root').try(args)).stderr, /status is written by shards only/)
    await kubectlFor(scene.shards.root, 'shard-base').at('/clusters/root')(args)
    await scene.reached('claimed', 'Migrating')
    scene.gate.heal()
    await scene.reached('claimed', 'Completed')
    await kubectl(['get', 'configmap', '-n', 'default', 'kept'])
  })

  it('goes on after a restart of both shards', async function () {
    needsLastingStore(this)
    const { kubectl, cluster, path } = await scene.tenant('root', 'restarted', 'root')
    await apply(kubectl, configMap('kept'))
    scene.gate.sever()
    await scene.migrate('restarted', cluster, 'beta')
    await scene.reached('restarted', 'Migrating')
    await scene.shards.root.restart()
    const closed = await eventually(
      () => scene.client(`/clusters/${path}/api/v1/configmaps`),
      ({ status }) => status !== 502,
    )
    assert.equal(closed.status, 503)
    scene.gate.heal()
    await scene.shards.beta.restart()
    await scene.reached('restarted', 'Completed')
    await kubectl(['get', 'configmap', '-n', 'default', 'kept'])
    assert.deepEqual(await scene.leftOn('root', cluster), [])
  })

  it('loses and repeats nothing when both shards are killed again and again', async function () {
    needsLastingStore(this)
    const { cluster, path } = await scene.tenant('root', 'large', 'root')
    const names = Array.from({ length: 1_200 }, (_, i) => `object-${i}`)
    const configMaps = `/clusters/${path}/api/v1/namespaces/default/configmaps`
    for (let i = 0; i < names.length; i += 100)
      await Promise.all(
        names.slice(i, i + 100).map(async name => {
          const { status } = await scene.client(configMaps, { method: 'POST', body: configMap(name) })
          assert.equal(status, 201)
        }),
      )
    await scene.migrate('large', cluster, 'beta')
    for (const shard of ['beta', 'root', 'beta', 'root'] as const) await scene.shards[shard].restart()
    const done = await eventually(
      () => scene.migration('large').catch(() => undefined),
      found => found?.status?.phase === 'Completed',
    )
    assert.ok((done?.status?.entriesCopied ?? 0) > names.length)
    const listed = await eventually(
      () => scene.client(configMaps),
      ({ status }) => status === 200,
    )
    const found = (listed.json().items ?? []).map(({ metadata }) => metadata.name ?? '')
    assert.deepEqual(found.sort(), [...names, 'kube-root-ca.crt'].sort())
    assert.deepEqual(await scene.leftOn('root', cluster), [])
  })

  it('ends when the Shard of its destination is deleted, and leaves nothing there', async function () {
    needsLastingStore(this)
    const { kubectl, cluster, path } = await scene.tenant('root', 'abandoned', 'root')
    await apply(kubectl, configMap('kept'))
    scene.gate.sever()
    await scene.migrate('abandoned', cluster, 'beta')
    await scene.reached('abandoned', 'Migrating')
    const root = scene.through('root')
    await root(['delete', 'shard', 'beta', '--timeout=60s'])
    const failed = await scene.reached('abandoned', 'Failed')
    assert.equal(conditionOf(failed, 'DataCopied')?.reason, 'DestinationGone')
    await eventually(
      () => kubectl.try(['create', '-f', '-'], JSON.stringify(configMap('after'))),
      ({ code }) => code === 0,
    )
    scene.gate.heal()
    await scene.shards.beta.restart()
    await root(['wait', '--for=create', '--timeout=60s', 'shard/beta'])
    assert.deepEqual(await scene.leftOn('beta', cluster), [])
    const workspace = await root.json<KubeObject>(['get', 'workspace', 'abandoned'])
    assert.equal(workspace.metadata.annotations?.['core.kcp.io/shard'], 'root')
    await scene.migrate('again', cluster, 'beta')
    await scene.reached('again', 'Completed')
    const kept = await scene.client(`/clusters/${path}/api/v1/namespaces/default/configmaps/kept`)
    assert.equal(kept.status, 200)
  })
})
