import assert from 'node:assert/strict'
import { configMap, configMapsWhere, mapsOf, namesOf, ownView, Scene } from './testing/scene.ts'

describe('pages of a View', () => {
  let scene: Scene
  const path = mapsOf('few')
  const shown = ['m-3', 'm-6']
  const page = async (query: string) => {
    const { status, text, object } = await scene.admin.request(`${path}?${query}`)
    assert.equal(status, 200, text)
    const { continue: token = '', remainingItemCount } = (object?.metadata ?? {}) as Record<string, string>
    return { names: namesOf(object?.items ?? []), token, remainingItemCount }
  }
  before(async () => {
    const maps = Array.from({ length: 9 }, (_, i) =>
      configMap(`m-${i}`, i % 3 === 0 && i > 0 ? { few: 'yes' } : {}),
    )
    scene = await Scene.start(...maps)
    await scene.view(ownView('few', configMapsWhere("'few' in object.metadata.labels")))
  })
  after(() => scene.oriel.close())

  it('are full as long as shown objects are left, and tell nothing about hidden ones', async () => {
    const first = await page('limit=1')
    assert.deepEqual(first.names, ['m-3'])
    assert.equal(first.remainingItemCount, undefined)
    const decoded = Buffer.from(first.token, 'base64url').toString('latin1')
    assert.ok(first.token !== '' && !decoded.includes('m-3'), decoded)
    const second = await page(`limit=1&continue=${first.token}`)
    assert.deepEqual(second, { names: ['m-6'], token: '', remainingItemCount: undefined })
    assert.deepEqual(await page('limit=2'), { names: shown, token: '', remainingItemCount: undefined })
    assert.deepEqual((await page('limit=5')).names, shown)
    assert.deepEqual((await page(`continue=${first.token}`)).names, ['m-6'])
  })

  it('end with a change of the View, and for other users', async () => {
    const { token } = await page('limit=1')
    const other = scene.oriel.as({ name: 'other', groups: ['system:masters'] })
    assert.equal((await other.request(`${path}?limit=1&continue=${token}`)).status, 410)
    for (const wrong of [
      `${token.slice(0, -4)}AAAA`,
      'x',
      Buffer.from('{"v":"meta.k8s.io/v1"}').toString('base64url'),
    ])
      assert.equal((await scene.admin.request(`${path}?limit=1&continue=${wrong}`)).status, 410)
    await scene.view(ownView('few', configMapsWhere("!('few' in object.metadata.labels)")))
    assert.equal((await scene.admin.request(`${path}?limit=1&continue=${token}`)).status, 410)
    assert.equal((await scene.admin.list(path)).length, 7)
  })
})
