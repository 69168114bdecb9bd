import assert from 'node:assert/strict'
import { configMap, everything, mapsOf, namesOf, ownView, Scene } from './testing/scene.ts'

describe('the parameters of a View', () => {
  let scene: Scene
  before(async () => {
    scene = await Scene.start(
      configMap('a', {}, { color: 'red', size: '1' }),
      configMap('b', {}, { color: 'blue', size: '5' }),
      configMap('c', {}, { color: 'green', size: '5' }),
    )
  })
  after(() => scene.oriel.close())

  const declared = async (name: string, params: object, where: string) => {
    const view = ownView(name, {
      resource: 'configmaps',
      verbs: everything,
      where,
      annotate: { 'example.com/color': 'params.colors[0]' },
    })
    const spec = { ...(view.spec as object), params }
    const { status } = await scene.view({ ...view, spec })
    return (status?.conditions ?? []).find(({ type }) => type === 'ExpressionsValid')
  }
  const where = 'object.data.color in params.colors && int(object.data.size) >= params.least'

  it('are values in its expressions, and a change of them changes the View', async () => {
    assert.equal((await declared('v', { colors: ['red', 'blue'], least: 2 }, where))?.status, 'True')
    assert.deepEqual(namesOf(await scene.admin.list(mapsOf('v'))), ['b'])
    const watch = await scene.admin.watch(mapsOf('v'))
    await watch.until(events => events.length === 1)
    assert.equal((await declared('v', { colors: ['red', 'green'], least: 1 }, where))?.status, 'True')
    await watch.until(events => events.some(({ type }) => type === 'ERROR'))
    watch.close()
    const shown = await scene.admin.list(mapsOf('v'))
    assert.deepEqual(namesOf(shown), ['a', 'c'])
    assert.equal(shown[0]?.metadata.annotations?.['example.com/color'], 'red')
  })

  const wrong = [
    [
      { colors: ['red'], least: 'x' },
      where,
      "found no matching overload for '_>=_' applied to '(int, string)'",
    ],
    [{ colors: ['red'] }, where, "undefined field 'least'"],
    [
      { colors: ['red', 1], least: 1 },
      where,
      'spec.params[colors]: must be a string, a number, a Boolean, or a list of one of them',
    ],
    [
      { colors: ['red'], 'a-b': 1 },
      'true',
      'spec.params[a-b]: the name must have letters, digits and "_" only',
    ],
    [{ colors: ['x'.repeat(9_000)] }, 'true', 'spec.params: must have at most 8192 bytes as JSON'],
  ] as const
  for (const [params, expression, message] of wrong)
    it(`have a type that is checked: ${message}`, async () => {
      const name = `wrong-${wrong.findIndex(([each]) => each === params)}`
      const condition = await declared(name, params, expression)
      assert.equal(condition?.status, 'False')
      assert.ok(condition?.message?.includes(message), condition?.message)
      assert.equal((await scene.admin.request(mapsOf(name))).status, 404)
    })
})
