import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import {
  access,
  binding,
  configMap,
  crd,
  path,
  QueryScene,
  reads,
  readThings,
  role,
  thing,
  things,
  where,
} from './testing/scene.ts'

describe('a query of a user with few permissions', () => {
  let scene: QueryScene
  beforeEach(async () => {
    scene = await QueryScene.start()
  })
  afterEach(() => scene.oriel.close())

  it('answers for a namespace where the user has a role in it only', async () => {
    await scene.oriel.cluster(
      'three',
      ...access,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mine' } },
      role('Role', 'reads', ['list'], 'mine') as KubeObject,
      binding('Role', 'reads', 'reads', 'mine') as KubeObject,
      configMap('own', {}, 'mine'),
      configMap('foreign'),
    )
    assert.deepEqual(await scene.found(scene.ada, path('', 'three')), ['three/own'])
    assert.deepEqual(
      (await scene.found(scene.ada, path())).filter(id => id.startsWith('three/')),
      ['three/own'],
    )
    assert.deepEqual(await scene.found(scene.ada, path('', '*', 'mine')), ['three/own'])
  })

  it('refuses logical clusters that the user cannot access like those that do not exist', async () => {
    const [hidden, missing] = await Promise.all(
      ['secret', 'missing'].map(name => scene.ada.request(path('', name))),
    )
    assert.equal(hidden?.status, 403)
    assert.equal(missing?.status, 403)
    assert.equal(hidden?.text.replaceAll('secret', ''), missing?.text.replaceAll('missing', ''))
  })

  it('follows permissions: objects are ADDED when the user may read them, and DELETED when not', async () => {
    const watch = await scene.ada.watch(path(where("object.data['size'] == '9'")))
    const at = '/clusters/secret/apis/rbac.authorization.k8s.io/v1'
    for (const object of [...access, ...reads])
      await scene.admin.request(
        `${at}/${object.kind === 'ClusterRole' ? 'clusterroles' : 'clusterrolebindings'}`,
        {
          method: 'POST',
          body: object,
        },
      )
    await watch.until(events => events.length === 1)
    await scene.admin.request(`${at}/clusterrolebindings/reads`, { method: 'DELETE' })
    await watch.until(events => events.length === 2)
    assert.deepEqual(watch.lines(), ['ADDED hidden', 'DELETED hidden'])
    watch.close()
    assert.deepEqual(await scene.found(scene.ada, path(where("object.data['size'] == '9'"))), [])
  })

  it('does not show that a resource is served where the user has no access', async () => {
    await scene.oriel.cluster('secret', crd('example.com', 'things', {}))
    const [hidden, missing] = await Promise.all(
      [things(), things().replace('things', 'nothing')].map(at => scene.ada.request(at)),
    )
    assert.equal(hidden?.status, 404)
    assert.equal(hidden?.text, missing?.text)
    const { text } = await scene.ada.request('/services/query/clusters/*/apis')
    assert.ok(!text.includes('example.com'), text)
    assert.equal((await scene.admin.request(things())).status, 200)
  })

  it('asks about one resource of several definitions, with an error only for those that the user may read', async () => {
    await scene.oriel.cluster(
      'secret',
      crd('example.com', 'things', { size: { type: 'string' } }),
      thing('x', { size: '5' }),
    )
    await scene.oriel.cluster(
      'one',
      crd('example.com', 'things', { size: { type: 'integer' } }),
      thing('a', { size: 5 }),
    )
    await scene.oriel.cluster('one', ...readThings, thing('b', { size: 2 }))
    assert.deepEqual(await scene.found(scene.ada, things(where('object.spec.size > 3'))), ['one/a'])
    const watch = await scene.ada.watch(things(where('object.spec.size > 3')))
    await watch.until(events => events.length === 1)
    for (const [cluster, name, size] of [
      ['secret', 'x', '9'],
      ['one', 'b', 7],
      ['one', 'a', 1],
    ] as const) {
      const at = `/clusters/${cluster}/apis/example.com/v1/things/${name}`
      const { status, text } = await scene.admin.request(at, {
        method: 'PATCH',
        body: { spec: { size } },
        headers: { 'content-type': 'application/merge-patch+json' },
      })
      assert.equal(status, 200, text)
    }
    await watch.until(events => events.length === 3)
    assert.deepEqual(watch.lines(), ['ADDED a', 'ADDED b', 'DELETED a'])
    assert.ok(!JSON.stringify(watch.events).includes('original-api-version'))
    watch.close()
  })

  it('has a cost that hidden objects do not change', async () => {
    const digits = '[0,1,2,3,4,5,6,7,8,9]'
    const all = ['a', 'b', 'c', 'd'].reduceRight(
      (inner, name) => `${digits}.all(${name}, ${inner})`,
      'a+b+c+d >= 0',
    )
    const costly = `object.metadata.name == 'a' || ${all}`
    const before = await scene.ada.request(path(where(costly)))
    const many = Array.from({ length: 1_010 }, (_, i) => configMap(`m-${i}`))
    await scene.oriel.cluster('secret', ...many)
    const after = await scene.ada.request(path(where(costly)))
    assert.deepEqual([after.status, before.status, after.object?.items], [200, 200, before.object?.items])
    const { status, text: why } = await scene.admin.request(path(where(costly)))
    assert.deepEqual([status, /cost too much/.test(why)], [400, true])
    const paged = await scene.admin.request(path(where(costly, '&limit=500')))
    assert.equal(paged.status, 200)
  })

  it('continues a watch from a version of a list, and refuses one from before a change of permissions', async () => {
    const { object } = await scene.ada.request(path())
    const { resourceVersion = '' } = (object?.metadata ?? {}) as Record<string, string>
    await scene.write('one', 'a', '4')
    const watch = await scene.ada.watch(path(`?resourceVersion=${resourceVersion}`))
    await watch.until(events => events.length === 1)
    assert.deepEqual(watch.lines(), ['MODIFIED a'])
    watch.close()
    await scene.oriel.cluster('secret', ...access, ...reads)
    const late = await scene.ada.watch(path(`?resourceVersion=${resourceVersion}`))
    const events = await late.until(all => all.length === 1)
    assert.equal((events[0]?.object as unknown as { code: number } | undefined)?.code, 410)
    late.close()
  })

  it('ends a watch from before the server knew the permissions with 410: it could miss a deletion', async () => {
    const { object } = await scene.ada.request('/clusters/one/api/v1/configmaps')
    const version = object?.metadata?.resourceVersion
    await scene.oriel.cluster('one', configMap('later'))
    const watch = await scene.ada.watch(path(`?resourceVersion=${version}`))
    const events = await watch.until(all => all.length === 1)
    assert.equal((events[0]?.object as unknown as { code: number } | undefined)?.code, 410)
    watch.close()
  })
})
