import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { eventually } from '../../test/support/oriel.ts'
import { deployment, deployments, syncTarget, syncTargets } from '../../test/support/views/examplecrds.ts'
import { type Installation, startInstallation, type TestUser, viewContract } from '../../testing/index.ts'
import syncer from './syncer.ts'

const all = '/services/syncer/east/clusters/*/apis/apps/v1/deployments'
const path = '/services/syncer/east/clusters/one/apis/apps/v1/namespaces/default/deployments'
const asJson = { 'content-type': 'application/merge-patch+json' }

describe('the example syncer', () => {
  let oriel: Installation
  let east: TestUser
  let west: TestUser
  let admin: TestUser
  before(async () => {
    oriel = await startInstallation({ plugins: [syncer] })
    await oriel.cluster('compute', syncTargets, syncTarget)
    for (const cluster of ['one', 'two']) await oriel.cluster(cluster, deployments)
    await oriel.cluster('one', deployment('web', 5, 'east', 'west'), deployment('hidden', 1, 'west'))
    await oriel.cluster('two', deployment('api', 2, 'east'))
    east = oriel.as({ name: 'syncer', groups: ['syncer:east'] })
    west = oriel.as({ name: 'other', groups: ['syncer:west'] })
    admin = oriel.as({ name: 'admin', groups: ['system:masters'] })
  })
  after(() => oriel.close())

  for (const { name, run } of viewContract({
    user: () => east,
    path,
    shown: 'web',
    hidden: 'hidden',
    secret: 'sesame',
    selectors: ['labelSelector=target.workload.example.com%2Fwest'],
  }))
    it(name, run)

  it('shows the Deployments of many workspaces with the share of the target', async () => {
    const found = await east.list(all)
    assert.deepEqual(
      found.map(({ metadata, spec }) => [
        metadata.name,
        (spec as { replicas: number }).replicas,
        metadata.labels,
      ]),
      [
        ['web', 3, { app: 'web' }],
        ['api', 2, { app: 'web' }],
      ],
    )
    const [other] = await west.list(path.replace('east', 'west'))
    assert.equal((other as KubeObject & { spec: { replicas: number } }).spec.replicas, 1)
    assert.equal((await west.request(all)).status, 403)
  })

  it('writes the status of each target, and keeps everything that the target does not see', async () => {
    const report = (user: TestUser, at: string, replicas: number) =>
      user.request(`${at}/web/status`, {
        method: 'PATCH',
        headers: asJson,
        body: { status: { replicas }, spec: { replicas: 99 } },
      })
    const written = await report(east, path, 3)
    assert.deepEqual([written.status, written.object?.status], [200, { replicas: 3 }])
    await report(west, path.replace('east', 'west'), 1)
    const { object } = await admin.request('/clusters/one/apis/apps/v1/namespaces/default/deployments/web')
    assert.deepEqual(object?.status, {
      replicas: 4,
      targets: { east: { replicas: 3 }, west: { replicas: 1 } },
    })
    assert.deepEqual(object?.spec, { replicas: 5 })
    assert.deepEqual(Object.keys(object?.metadata.labels ?? {}).length, 3)
    assert.equal(object?.metadata.annotations?.note, 'hello')
    assert.deepEqual((await east.request(`${path}/web`)).object?.status, { replicas: 3 })
    assert.equal((await east.request(`${path}/web`, { method: 'PATCH', body: {} })).status, 405)
  })

  it('watches the share, which changes when another target gets the Deployment', async () => {
    const watch = await east.watch(`${all}?fieldSelector=metadata.name%3Dapi`)
    await watch.until(events => events.length === 1)
    const body = { metadata: { labels: { 'target.workload.example.com/west': 'sync' } } }
    await admin.request('/clusters/two/apis/apps/v1/namespaces/default/deployments/api', {
      method: 'PATCH',
      body,
    })
    const [, changed] = await watch.until(events => events.length === 2)
    assert.deepEqual([changed?.type, changed?.object.spec], ['MODIFIED', { replicas: 1 }])
    watch.close()
  })

  it('drops the status of targets that do not have the Deployment any more', async () => {
    const at = '/clusters/one/apis/apps/v1/namespaces/default/deployments/web'
    const body = { metadata: { labels: { 'target.workload.example.com/west': null } } }
    await admin.request(at, { method: 'PATCH', body })
    const report = { method: 'PATCH', headers: asJson, body: { status: { replicas: 5 } } }
    assert.equal((await east.request(`${path}/web/status`, report)).status, 200)
    assert.deepEqual((await admin.request(at)).object?.status, {
      replicas: 5,
      targets: { east: { replicas: 5 } },
    })
  })

  it('publishes its URL in the status of the SyncTarget', async () => {
    const at = '/clusters/compute/apis/workload.example.com/v1alpha1/synctargets/east'
    const { object } = await eventually(
      () => admin.request(at),
      reply => reply.object?.status !== undefined,
    )
    assert.deepEqual(object?.status, { virtualWorkspaces: [{ url: `${oriel.url}/services/syncer/east` }] })
  })
})
