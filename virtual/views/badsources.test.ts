import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { configMap, configMapsWhere, mapsOf, namesOf, ownView, Scene } from './testing/scene.ts'
import type { ViewObject } from './types.ts'

const ready = ({ status }: ViewObject) => status?.conditions?.find(({ type }) => type === 'Ready')
const messageOf = (view: ViewObject): string => ready(view)?.message ?? ''
const views = '/clusters/one/apis/views.oriel.dev/v1alpha1/views'

describe('a View with a source that it cannot show', () => {
  let scene: Scene
  before(async () => {
    scene = await Scene.start(configMap('a'))
  })
  after(() => scene.oriel.close())

  it('names the APIExport that does not exist, in the status and as 404', async () => {
    const view = ownView('lost', configMapsWhere('true'))
    const found = await scene.view({
      ...view,
      spec: { ...(view.spec as object), source: { apiExport: 'gone' } },
    } as KubeObject)
    assert.equal(ready(found)?.status, 'False')
    assert.match(messageOf(found), /APIExport "gone" does not exist in this workspace/)
    assert.equal((await scene.admin.request(mapsOf('lost'))).status, 404)
  })

  it('says that a View cannot be made of Views, so that none can be in a circle', async () => {
    // A source names an export or the workspace itself; objects of a View are served below its URL only.
    const found = await scene.view(
      ownView('first', { group: 'example.com', resource: 'red-maps', verbs: ['list'], where: 'true' }),
    )
    assert.match(
      messageOf(found),
      /spec.resources\[0\]: the source does not have the resource "red-maps.example.com"/,
    )
    const body = {
      ...ownView('second', configMapsWhere('true')),
      spec: { source: { view: 'first' }, resources: [] },
    }
    const { status, text } = await scene.admin.request(views, { method: 'POST', body })
    assert.equal(status, 422, text)
    assert.match(text, /spec.source/)
  })

  it('shows the View objects of its workspace like all objects, also itself', async () => {
    const own = { group: 'views.oriel.dev', resource: 'views', verbs: ['list', 'watch'], where: 'true' }
    await scene.view(ownView('mirror', own))
    const path = '/services/views/one/mirror/clusters/one/apis/views.oriel.dev/v1alpha1/views'
    const before = await scene.admin.list(path)
    assert.ok(namesOf(before).includes('mirror'))
    const watch = await scene.admin.watch(path)
    await scene.view(ownView('later', configMapsWhere('true')))
    await watch.until(events => events.some(({ object }) => object.metadata.name === 'later'))
    watch.close()
  })

  it('ends its watches with 410, and is 404, when it is deleted', async () => {
    await scene.view(ownView('short', configMapsWhere('true')))
    const watch = await scene.admin.watch(mapsOf('short'))
    await watch.until(events => events.length === 1)
    await scene.admin.request(`${views}/short`, { method: 'DELETE' })
    const events = await watch.until(all => all.length === 2)
    assert.deepEqual(
      [events[1]?.type, (events[1]?.object as unknown as { code: number } | undefined)?.code],
      ['ERROR', 410],
    )
    watch.close()
    assert.equal((await scene.admin.request(mapsOf('short'))).status, 404)
  })
})

describe('Views that are created at once', () => {
  let scene: Scene
  before(async () => {
    scene = await Scene.start(configMap('a'), configMap('b'))
  })
  after(() => scene.oriel.close())

  it('are all served, and leave other workspaces as they were', async function () {
    this.timeout(120_000)
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, i) => {
        const body = ownView(`v-${i}`, configMapsWhere(`size(object.data) < ${i + 1}`))
        return scene.admin.request(views, { method: 'POST', body })
      }),
    )
    assert.deepEqual([...new Set(made.map(({ status }) => status))], [201])
    const shown = await Promise.all(made.map((_, i) => scene.admin.list(mapsOf(`v-${i}`))))
    assert.deepEqual([...new Set(shown.map(({ length }) => length))], [2])
    await scene.oriel.cluster('two', configMap('b'))
    const body = ownView('other', configMapsWhere('true'))
    const at = '/clusters/two/apis/views.oriel.dev/v1alpha1/views'
    assert.equal((await scene.admin.request(at, { method: 'POST', body })).status, 201)
    const path = mapsOf('other').replace('/one/', '/two/')
    assert.deepEqual(namesOf(await scene.admin.list(path)), ['b'])
  })
})
