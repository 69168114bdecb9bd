import assert from 'node:assert/strict'
import { configMap, configMapsWhere, everything, mapsIn, ownView, Scene } from './testing/scene.ts'

const later = '2020-01-01T00:00:00Z'

describe('an object that is written through a View', () => {
  let scene: Scene
  beforeEach(async () => {
    scene = await Scene.start(configMap('there', {}, { color: 'red' }))
  })
  afterEach(() => scene.oriel.close())

  const send = (method: string, path: string, body: object) => scene.admin.request(path, { method, body })
  const stored = (name: string) =>
    scene.admin.request(`/clusters/one/api/v1/namespaces/default/configmaps/${name}`)

  for (const [field, value, where] of [
    ['uid', 'mine', "object.metadata.uid == 'mine'"],
    ['generation', 5, 'object.metadata.generation == 5'],
    ['deletionTimestamp', later, 'has(object.metadata.deletionTimestamp)'],
    ['creationTimestamp', later, "object.metadata.creationTimestamp < timestamp('2021-01-01T00:00:00Z')"],
    ['selfLink', '/mine', 'has(object.metadata.selfLink)'],
  ] as const)
    it(`is not in it by a ${field} that the server does not store`, async () => {
      await scene.view(ownView('some', configMapsWhere(where)))
      const made = configMap('mine', {}, { a: 'b' })
      const reply = await send('POST', mapsIn('some'), {
        ...made,
        metadata: { ...made.metadata, [field]: value },
      })
      assert.equal(reply.status, 403, reply.text)
      assert.match(reply.text, /would be outside the View/)
      assert.equal((await send('POST', `${mapsIn('some')}?dryRun=All`, made)).status, 403)
      assert.equal((await stored('mine')).status, 404)
    })

  it('is in it by its generated name', async () => {
    await scene.view(ownView('some', configMapsWhere("object.metadata.name.startsWith('web-')")))
    const named = (generateName: string) => {
      const { name: _, ...metadata } = configMap('', {}).metadata
      return send('POST', mapsIn('some'), { ...configMap('', {}), metadata: { ...metadata, generateName } })
    }
    const reply = await named('web-')
    assert.equal(reply.status, 201, reply.text)
    const { name = '', generateName } = reply.object?.metadata ?? {}
    assert.match(name, /^web-.{5}$/)
    assert.equal(generateName, 'web-')
    assert.equal((await stored(name)).object?.metadata.generateName, 'web-')
    assert.equal((await named('db-')).status, 403)
  })

  it('is not in it by a status that has its own endpoint', async () => {
    const where = "has(object.status) && object.status.phase == 'Terminating'"
    await scene.view(ownView('some', { resource: 'namespaces', verbs: everything, where }))
    const path = '/services/views/one/some/clusters/one/api/v1/namespaces'
    const body = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'mine' },
      status: { phase: 'Terminating' },
    }
    const reply = await send('POST', path, body)
    assert.equal(reply.status, 403, reply.text)
    assert.equal((await scene.admin.request('/clusters/one/api/v1/namespaces/mine')).status, 404)
  })

  it('does not leave it by such fields', async () => {
    const where =
      "object.data.color == 'red' || has(object.metadata.deletionTimestamp) || object.metadata.uid == 'mine'"
    await scene.view(ownView('some', configMapsWhere(where)))
    const metadata = { deletionTimestamp: later }
    const reply = await send('PATCH', `${mapsIn('some')}/there`, { metadata, data: { color: 'blue' } })
    assert.equal(reply.status, 403, reply.text)
    assert.equal((await stored('there')).object?.metadata.deletionTimestamp, undefined)
  })

  it('is in it by the fields that the server sets', async () => {
    const where =
      "object.metadata.uid != '' && object.metadata.creationTimestamp > timestamp('2021-01-01T00:00:00Z')"
    await scene.view(ownView('some', configMapsWhere(where)))
    const made = await send('POST', mapsIn('some'), configMap('mine', {}, { color: 'red' }))
    assert.equal(made.status, 201, made.text)
    const changed = await send('PATCH', `${mapsIn('some')}/mine`, { data: { color: 'blue' } })
    assert.equal(changed.status, 200, changed.text)
  })
})
