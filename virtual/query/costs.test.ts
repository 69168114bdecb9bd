import assert from 'node:assert/strict'
import { configMap, path, QueryScene, where } from './testing/scene.ts'

describe('a query whose expression costs too much for one request', () => {
  const numbers = JSON.stringify(Array.from({ length: 30 }, (_, i) => i))
  const dear = `${numbers}.all(a, ${numbers}.all(b, a + b >= 0)) && object.metadata.name != ''`
  let scene: QueryScene
  before(async () => {
    scene = await QueryScene.start()
    const text = 'x'.repeat(2_000)
    await scene.oriel.cluster(
      'one',
      ...Array.from({ length: 2_500 }, (_, i) => configMap(`m-${i}`, { text })),
    )
  })
  after(() => scene.oriel.close())

  it('is refused as a whole, also where the first objects could be sent', async () => {
    const { status, text } = await scene.ada.request(path(where(dear)))
    assert.equal(status, 400, text.slice(0, 300))
    assert.match(text, /the expressions of the query cost too much for one request: use limit/)
  })

  it('is answered in pages, which can end early', async () => {
    const { status, object } = await scene.ada.request(path(where(dear, '&limit=2000')))
    const { continue: token } = (object?.metadata ?? {}) as { readonly continue?: string }
    assert.equal(status, 200)
    assert.ok((object?.items ?? []).length > 500 && token !== undefined)
  })
})
