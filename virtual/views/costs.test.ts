import assert from 'node:assert/strict'
import { configMap, configMapsWhere, mapsOf, ownView, Scene } from './testing/scene.ts'

describe('a list of a View whose expressions cost too much for one request', () => {
  let scene: Scene
  const numbers = JSON.stringify(Array.from({ length: 30 }, (_, i) => i))
  const dear = `${numbers}.all(a, ${numbers}.all(b, a + b >= 0)) && object.metadata.name != ''`
  before(async () => {
    const data = { text: 'x'.repeat(2_000) }
    const maps = Array.from({ length: 2_500 }, (_, i) => configMap(`m-${i}`, {}, data))
    scene = await Scene.start(...maps)
    await scene.view(ownView('dear', configMapsWhere(dear)))
  })
  after(() => scene.oriel.close())

  it('is refused as a whole, also where the first objects could be sent', async () => {
    const { status, text } = await scene.admin.request(mapsOf('dear'))
    assert.equal(status, 500, text.slice(0, 300))
    assert.match(
      text,
      /the expressions of the View cost too much for one request: spec\.resources\[0\]\.where/,
    )
  })

  it('is shown in pages', async () => {
    const { status, object } = await scene.admin.request(`${mapsOf('dear')}?limit=100`)
    assert.deepEqual([status, object?.items?.length], [200, 100])
  })
})
