import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import {
  access,
  configMap,
  crd,
  idOf,
  path,
  QueryScene,
  readThings,
  thing,
  things,
  where,
} from './testing/scene.ts'

describe('pages of a query', () => {
  let scene: QueryScene
  beforeEach(async () => {
    scene = await QueryScene.start()
  })
  afterEach(() => scene.oriel.close())

  async function paged(at: string): Promise<readonly string[]> {
    const found: string[] = []
    let token = ''
    do {
      const { object, text, status } = await scene.ada.request(`${at}&limit=1&continue=${token}`)
      assert.equal(status, 200, text)
      found.push(...((object?.items ?? []) as KubeObject[]).map(idOf))
      token = ((object?.metadata ?? {}) as { continue?: string }).continue ?? ''
      assert.ok(found.length < 20, 'the pages have an end')
    } while (token !== '')
    return found
  }

  it('have each object once, also where the name of a namespace begins with that of another one', async () => {
    const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    await scene.oriel.cluster('one', namespace('a'), namespace('a-b'))
    await scene.oriel.cluster(
      'one',
      configMap('x', {}, 'a'),
      configMap('y', {}, 'a-b'),
      configMap('z', {}, 'a'),
    )
    const at = path(where('true'), 'one')
    assert.deepEqual([...(await paged(at))].sort(), ['one/a', 'one/b', 'one/x', 'one/y', 'one/z'])
    const ordered = `${path('', 'one')}?orderBy=1`
    assert.deepEqual([...(await paged(ordered))].sort(), ['one/a', 'one/b', 'one/x', 'one/y', 'one/z'])
  })

  it('have each object once in the order of values that are no numbers, infinite, or long texts', async () => {
    for (const [name, size] of [
      ['n', 'NaN'],
      ['p', 'Infinity'],
      ['q', '-Infinity'],
    ] as const)
      await scene.oriel.cluster('one', configMap(name, { size }))
    const by = (text: string) => `${path('', 'one')}?orderBy=${encodeURIComponent(text)}`
    const order = ['one/b', 'one/a', 'one/n', 'one/p', 'one/q']
    assert.deepEqual(await paged(by("double(object.data['size'])")), order)
    const long = 'x'.repeat(50_000)
    await scene.oriel.cluster(
      'one',
      configMap('l', { size: `${long}b` }),
      configMap('m', { size: `${long}a` }),
    )
    const texts = await paged(by("object.data['size']"))
    assert.deepEqual(texts.slice(-2), ['one/l', 'one/m'])
  })

  it('are not refused because another user serves a resource with the same name and another schema', async () => {
    const definition = (field: string) => crd('example.com', 'things', { [field]: { type: 'string' } })
    await scene.oriel.cluster('three', ...access, definition('a'), ...readThings, thing('t', { a: 'x' }))
    await scene.oriel.cluster('four', ...access, definition('b'), ...readThings, thing('u', { b: 'x' }))
    const found = await scene.ada.request(things(where("object.spec.a == 'x'")))
    assert.equal(found.status, 200, found.text)
    assert.deepEqual(((found.object?.items ?? []) as KubeObject[]).map(idOf), ['three/t'])
    const wrong = await scene.ada.request(things(where("object.spec.c == 'x'")))
    assert.equal(wrong.status, 400)
    assert.match(wrong.text, /undefined field 'c'/)
  })
})
