import assert from 'node:assert/strict'
import type { KubeObject } from '../../../../framework/index.ts'
import { clientOf } from '../../../support/client.ts'
import { eventually } from '../../../support/oriel.ts'
import { region } from '../../../support/published.ts'
import { apply } from '../../../support/tenants.ts'
import { configAt, watch } from '../../../support/watcher.ts'
import { inside, isKcp, type List, path, type Replication, regionsPath } from './scene.ts'

export const whatIsPublished = (scene: Replication): void => {
  it('is published under the name of the slice', () =>
    assert.equal(scene.url, `${scene.oriel.viewsUrl}/services/replication/${scene.provider.cluster}/regions`))

  it('reports the published resource and the number of objects', async () => {
    const published = await eventually(
      () =>
        scene.provider.kubectl.json<{ metadata: KubeObject['metadata']; status: Record<string, unknown> }>([
          ...['get', 'clustercachedresource', 'regions'],
        ]),
      ({ status }) => (status.resourceCounts as { cache: number }).cache === 1,
    )
    assert.deepEqual(published.metadata.finalizers, ['cache.kcp.io/clustercachedresource'])
    const { annotations } = published.metadata
    assert.equal(annotations?.['cache.kcp.io/resource-kind'], 'Region')
    assert.equal(annotations?.['cache.kcp.io/resource-scope'], 'Cluster')
    const { conditions, ...status } = published.status
    assert.deepEqual(status, {
      identityHash: scene.identity,
      phase: 'Ready',
      resourceCounts: { cache: 1, local: 1 },
    })
    assert.deepEqual(
      (conditions as readonly { type: string; status: string }[]).map(c => `${c.type}=${c.status}`),
      ['IdentityValid=True', 'ReplicationStarted=True', 'ResourceValid=True'],
    )
  })

  it('serves published objects as the consumer’s, in the consumer and through the view', async () => {
    for (const at of [inside(scene, scene.consumer), path(scene, scene.consumer.cluster)]) {
      const list = (await scene.admin(at)).json<List>()
      assert.deepEqual(
        list.items.map(({ metadata, spec }) => [
          metadata.name,
          metadata.annotations?.['kcp.io/cluster'],
          spec,
        ]),
        [['north', scene.consumer.cluster, { zone: 'north' }]],
      )
      const one = (await scene.admin(`${at}/north`)).json()
      assert.equal(one.metadata.annotations?.['kcp.io/cluster'], scene.consumer.cluster)
      assert.equal((await scene.admin(`${at}/hidden`)).status, 404)
    }
  })

  it('sends created, changed and deleted objects in a watch', async () => {
    for (const base of [
      `${scene.oriel.url}/clusters/${scene.consumer.cluster}`,
      `${scene.url}/clusters/${scene.consumer.cluster}`,
    ]) {
      const watcher = await watch(configAt(scene.oriel, base), regionsPath)
      const sees = (type: string, name: string) =>
        watcher.next(seen => seen.type === type && seen.object.metadata?.name === name)
      try {
        await sees('ADDED', 'north')
        await apply(scene.provider.kubectl, region('south', { public: 'yes' }))
        const added = await sees('ADDED', 'south')
        assert.equal(added.object.metadata?.annotations?.['kcp.io/cluster'], scene.consumer.cluster)
        await scene.provider.kubectl(['label', 'region', 'south', 'cold=yes'])
        await sees('MODIFIED', 'south')
        await scene.provider.kubectl(['delete', 'region', 'south'])
        await sees('DELETED', 'south')
        if (isKcp) continue
        // kcp's copies follow writes of objects, and not always changes of the selector.
        await scene.provider.kubectl(['label', 'region', 'hidden', 'public=yes'])
        await sees('ADDED', 'hidden')
        await scene.provider.kubectl(['label', 'region', 'hidden', 'public-'])
        await sees('DELETED', 'hidden')
      } finally {
        watcher.stop()
      }
    }
  })

  it('is discovered as one read-only resource, in the view and in the consumer', async () => {
    for (const at of [
      inside(scene, scene.consumer, '/apis/example.com/v1'),
      path(scene, '*', '/apis/example.com/v1'),
    ]) {
      const { resources } = (await scene.admin(at)).json<{
        resources: readonly { name: string; verbs: readonly string[] | null }[]
      }>()
      assert.deepEqual(
        resources.map(({ name, verbs }) => [name, verbs]),
        [
          ['regions', ['get', 'list', 'watch']],
          ['regions/status', null],
        ],
      )
    }
    const documents = (await scene.admin(path(scene, scene.consumer.cluster, '/openapi/v3'))).json<{
      paths: object
    }>()
    assert.ok('apis/example.com/v1' in documents.paths)
  })

  it('cannot be written by any user', async () => {
    const body = region('mine')
    const headers = { 'content-type': 'application/json' }
    const masters = await clientOf(configAt(scene.oriel, '', 'shard-base'))
    for (const at of [inside(scene, scene.consumer), path(scene, scene.consumer.cluster)]) {
      const refused = await masters(at, { method: 'POST', headers, body })
      assert.equal(refused.status, 405, at)
      assert.equal(
        refused.json().message,
        'create is not supported on resources of kind "regions.example.com"',
      )
      assert.equal((await masters(`${at}/north`, { method: 'DELETE' })).status, 405, at)
    }
    const denied = await scene.admin(path(scene, scene.consumer.cluster), { method: 'POST', headers, body })
    assert.equal(denied.status, 403)
  })

  it('serves no single clusters', async () => {
    const refused = await scene.admin(path(scene, '*'))
    assert.equal(refused.status, 400)
    assert.equal(refused.json().message, 'Wildcard request not supported')
  })
}
