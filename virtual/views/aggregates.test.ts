import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../framework/index.ts'
import { eventually } from '../../test/support/oriel.ts'
import { configMap, configMapsWhere, namesOf, ownView, Scene } from './testing/scene.ts'

const path = '/services/views/one/sizes/clusters/one/apis/views.oriel.dev/v1alpha1/aggregates'

const sizes = (where: string, more: object = {}) => {
  const view = ownView('sizes', configMapsWhere(where))
  const aggregate = {
    name: 'by-color',
    resource: 'configmaps',
    by: { color: "object.data['color']" },
    sum: { size: "int(object.data['size'])" },
    max: { size: "int(object.data['size'])" },
    ...more,
  }
  return { ...view, spec: { ...(view.spec as object), aggregate: [aggregate] } } as KubeObject
}

const told = ({ group, count, sum, max }: KubeObject & { readonly [field: string]: unknown }): string =>
  `${(group as { color?: string }).color} ${count} ${(sum as { size: number }).size} ${(max as { size: number }).size}`

describe('the aggregates of a View', () => {
  let scene: Scene
  beforeEach(async () => {
    scene = await Scene.start(
      configMap('a', {}, { color: 'red', size: '1' }),
      configMap('b', {}, { color: 'red', size: '5' }),
      configMap('c', {}, { color: 'blue', size: '2' }),
      configMap('hidden', { hidden: 'yes' }, { color: 'black', size: '100' }),
    )
    const { status } = await scene.view(sizes("!('hidden' in object.metadata.labels)"))
    assert.deepEqual(
      status?.conditions?.filter(({ status: value }) => value !== 'True'),
      [],
    )
  })
  afterEach(() => scene.oriel.close())

  const patch = async (name: string, body: object): Promise<void> => {
    const { status, text } = await scene.admin.request(
      `/clusters/one/api/v1/namespaces/default/configmaps/${name}`,
      { method: 'PATCH', body },
    )
    assert.equal(status, 200, text)
  }
  const listed = async (): Promise<readonly string[]> => (await scene.admin.list(path)).map(told).sort()

  it('have the count and the functions of each group of shown objects', async () => {
    assert.deepEqual(await listed(), ['blue 1 2 2', 'red 2 6 5'])
    assert.deepEqual(
      await scene.admin.list(path.replace('clusters/one', 'clusters/*')),
      await scene.admin.list(path),
    )
  })

  it('follow events: a group that empties is DELETED', async () => {
    const watch = await scene.admin.watch(path)
    await watch.until(events => events.length === 2)
    await patch('c', { data: { color: 'red' } })
    await watch.until(events => events.some(({ type }) => type === 'DELETED'))
    await patch('hidden', { data: { size: '7' }, metadata: { labels: { hidden: null } } })
    const events = await watch.until(all => all.some(({ object }) => /^black/.test(told(object as never))))
    assert.deepEqual(
      events
        .slice(2)
        .map(({ type, object }) => `${type} ${told(object as never)}`)
        .sort(),
      ['ADDED black 1 7 7', 'DELETED blue 1 2 2', 'MODIFIED red 3 8 5'],
    )
    watch.close()
    await patch('hidden', { metadata: { labels: { hidden: 'yes' } } })
    // Aggregates follow their objects after the write was acknowledged.
    await eventually(listed, groups => isDeepStrictEqual(groups, ['red 3 8 5']))
  })

  it('do not count objects for which an expression fails, and name the field in the status', async () => {
    await scene.admin.list(path)
    await patch('c', { data: { size: 'large' } })
    const { status } = await scene.status('sizes', ({ status: found }) => (found?.failures ?? []).length > 0)
    assert.deepEqual(
      status?.failures?.map(({ field }) => field),
      ['spec.aggregate[0].max[size]', 'spec.aggregate[0].sum[size]'],
    )
    await eventually(listed, groups => isDeepStrictEqual(groups, ['red 2 6 5']))
  })

  it('do not count objects whose group has a text of more than 256 characters', async () => {
    await scene.admin.list(path)
    await patch('c', { data: { color: 'x'.repeat(256) } })
    await eventually(listed, groups => groups.includes(`${'x'.repeat(256)} 1 2 2`))
    await patch('c', { data: { color: 'x'.repeat(257) } })
    const { status } = await scene.status('sizes', ({ status: found }) => (found?.failures ?? []).length > 0)
    assert.deepEqual(
      status?.failures?.map(({ field, reason }) => [field, /has more than 256 characters/.test(reason)]),
      [['spec.aggregate[0].by[color]', true]],
    )
    await eventually(listed, groups => isDeepStrictEqual(groups, ['red 2 6 5']))
  })

  it('are found by the name of the entry, and have tables', async () => {
    assert.equal((await scene.admin.list(`${path}?fieldSelector=aggregate%3Dby-color`)).length, 2)
    assert.equal((await scene.admin.list(`${path}?fieldSelector=aggregate%3Dother`)).length, 0)
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { object } = await scene.admin.request(path, { headers: { accept } })
    const { rows } = object as unknown as { rows: readonly { cells: readonly unknown[] }[] }
    assert.deepEqual(rows.map(({ cells }) => cells.slice(1, 4)).sort(), [
      ['by-color', 'color=blue', 1],
      ['by-color', 'color=red', 2],
    ])
  })

  it('of a View without such a resource, of hidden fields or of the user are refused in the status', async () => {
    const wrong = async (view: KubeObject): Promise<string> =>
      ((await scene.view(view)).status?.conditions ?? []).find(({ type }) => type === 'ExpressionsValid')
        ?.message ?? ''
    assert.match(
      await wrong(sizes('true', { resource: 'secrets' })),
      /^spec.aggregate\[0\]: spec.resources does not have/,
    )
    assert.match(
      await wrong(sizes('true', { by: { who: 'user.name' } })),
      /^spec.aggregate\[0\].by\[who\]: .*the user/,
    )
    assert.match(
      await wrong(sizes("user.name == 'a'")),
      /^spec.aggregate\[0\]: an aggregate cannot depend on the user/,
    )
    assert.match(await wrong(sizes('true', { by: { color: 'object.dat' } })), /undefined field 'dat'/)
  })

  it('cannot be read in other logical clusters, and not without spec.aggregate', async () => {
    await scene.oriel.cluster('two')
    const user = scene.oriel.as({ name: 'ada', groups: ['system:authenticated'] })
    assert.equal((await user.request(path)).status, 403)
    assert.deepEqual(namesOf(await scene.admin.list(path.replace('clusters/one/', 'clusters/two/'))), [])
  })
})
