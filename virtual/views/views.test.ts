import assert from 'node:assert/strict'
import { configMap, configMapsWhere, mapsIn, mapsOf, namesOf, ownView, Scene } from './testing/scene.ts'

const red = "object.data.color == 'red'"

describe('a View', () => {
  let scene: Scene
  before(async () => {
    scene = await Scene.start(
      configMap('a', { team: 'x' }, { color: 'red' }),
      configMap('b', {}, { color: 'blue' }),
      configMap('c', {}, {}),
    )
    await scene.view(ownView('red', configMapsWhere(red)))
  })
  after(() => scene.oriel.close())

  it('shows the objects for which the expression is true', async () => {
    assert.deepEqual(namesOf(await scene.admin.list(mapsOf('red'))), ['a'])
    assert.deepEqual(namesOf(await scene.admin.list(mapsIn('red'))), ['a'])
    assert.equal((await scene.admin.request(`${mapsIn('red')}/a`)).status, 200)
    assert.equal((await scene.admin.request(`${mapsIn('red')}/b`)).status, 404)
  })

  it('sends ADDED and DELETED with the last visible state', async () => {
    const watch = await scene.admin.watch(mapsOf('red'))
    await watch.until(events => events.length === 1)
    const plain = '/clusters/one/api/v1/namespaces/default/configmaps'
    const paint = (name: string, color: string) =>
      scene.admin.request(`${plain}/${name}`, { method: 'PATCH', body: { data: { color } } })
    await paint('b', 'red')
    await paint('b', 'green')
    await paint('a', 'red')
    await paint('c', 'red')
    const events = await watch.until(all => all.length === 4)
    assert.deepEqual(watch.lines(), ['ADDED a', 'ADDED b', 'DELETED b', 'ADDED c'])
    assert.deepEqual(events[2]?.object.data, { color: 'red' })
    watch.close()
  })

  it('has many watches without a warning of Node.js about listeners', async () => {
    const warnings: string[] = []
    const note = ({ name }: Error): void => void warnings.push(name)
    process.on('warning', note)
    const watches = await Promise.all(Array.from({ length: 12 }, () => scene.admin.watch(mapsOf('red'))))
    await Promise.all(watches.map(watch => watch.until(events => events.length > 0)))
    for (const watch of watches) watch.close()
    process.off('warning', note)
    assert.deepEqual(warnings, [])
  })
})
