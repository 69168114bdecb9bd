import assert from 'node:assert/strict'
import { type Installation, startInstallation, type TestUser, viewContract } from '../../testing/index.ts'
import tenant from './tenant.ts'

const stored = (name: string, team: string, namespace = 'shared', word = '') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels: { team } },
  data: { word },
})
const path = '/services/tenant/ops/clusters/one/api/v1/namespaces/default/configmaps'
const below = '/clusters/one/api/v1/namespaces/shared/configmaps'

describe('the example tenant', () => {
  let oriel: Installation
  let ada: TestUser
  let admin: TestUser
  before(async () => {
    oriel = await startInstallation({ plugins: [tenant] })
    await oriel.cluster(
      'one',
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shared' } },
      stored('ops-motto', 'ops'),
      stored('red-plan', 'red', 'shared', 'sesame'),
      stored('ops-plan', 'red', 'shared', 'sesame'),
      stored('ops-other', 'ops', 'default', 'sesame'),
    )
    ada = oriel.as({ name: 'ada', groups: ['team:ops'] })
    admin = oriel.as({ name: 'admin', groups: ['system:masters'] })
  })
  after(() => oriel.close())

  for (const hidden of ['red-plan', 'plan', 'other'])
    for (const { name, run } of viewContract({
      user: () => ada,
      path,
      shown: 'motto',
      hidden,
      secret: 'sesame',
      selectors: ['labelSelector=team%3Dred', 'fieldSelector=metadata.name%3Dops-motto'],
    }))
      it(`${name} (${hidden})`, run)

  it('writes under the names of the team, with its label', async () => {
    const created = await ada.request(path, {
      method: 'POST',
      body: { metadata: { name: 'song' }, data: { text: 'la' } },
    })
    assert.deepEqual(
      [created.status, created.object?.metadata.name, created.object?.metadata.namespace],
      [201, 'song', 'default'],
    )
    const { object } = await admin.request(`${below}/ops-song`)
    assert.deepEqual([object?.data, object?.metadata.labels], [{ text: 'la' }, { team: 'ops' }])
    const body = { data: { text: 'lala' }, metadata: { labels: { team: 'red', more: 'yes' } } }
    const patched = await ada.request(`${path}/song`, { method: 'PATCH', body })
    assert.deepEqual(patched.object?.metadata.labels, { team: 'ops', more: 'yes' })
    const applied = await ada.request(`${path}/applied?fieldManager=ada`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { text: 'x' } },
    })
    assert.deepEqual([applied.status, applied.object?.metadata.name], [201, 'applied'])
    for (const name of ['song', 'applied'])
      assert.equal((await ada.request(`${path}/${name}`, { method: 'DELETE' })).status, 200)
    assert.equal((await admin.request(`${below}/ops-song`)).status, 404)
  })

  it('refuses in the words of the view', async () => {
    const again = await ada.request(path, { method: 'POST', body: { metadata: { name: 'motto' } } })
    assert.deepEqual([again.status, again.object?.message], [409, 'configmaps "motto" already exists'])
    const bad = await ada.request(path, { method: 'POST', body: { metadata: { name: 'Bad!' } } })
    assert.equal(bad.status, 422)
    assert.ok(!bad.text.includes('ops-'), bad.text)
    const elsewhere = path.replace('/default/', '/shared/')
    const missing = await ada.request(elsewhere, { method: 'POST', body: { metadata: { name: 'a' } } })
    assert.equal(missing.status, 404)
  })
})
