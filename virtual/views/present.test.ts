import assert from 'node:assert/strict'
import {
  configMap,
  configMapsWhere,
  everything,
  mapsIn,
  mapsOf,
  namesOf,
  ownView,
  Scene,
} from './testing/scene.ts'

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const plain = '/clusters/one/api/v1/namespaces/default/configmaps'

describe('what a View adds and lets write', () => {
  let scene: Scene
  const maps = mapsIn('added')
  const patch = (name: string, body: object, path = maps) =>
    scene.admin.request(`${path}/${name}`, { method: 'PATCH', body })
  before(async () => {
    scene = await Scene.start(configMap('a', {}, { color: 'red', size: '1' }), configMap('b', {}, {}))
    const view = ownView('added', {
      resource: 'configmaps',
      verbs: everything,
      hide: ['data.token'],
      annotate: {
        'example.com/color': 'object.data.color',
        'example.com/who': 'user.name',
        'example.com/cluster': 'cluster.name',
      },
      writable: ['data.size', 'metadata.labels'],
    })
    const columns = [
      { name: 'Color', jsonPath: '.data.color' },
      { name: 'Cluster', expression: 'cluster.name' },
      { name: 'Count', expression: 'size(object.data)', type: 'integer' },
    ]
    await scene.view({ ...view, spec: { ...(view.spec as object), columns } })
  })
  after(() => scene.oriel.close())

  it('are annotations, for the user of the request', async () => {
    const { object } = await scene.admin.request(`${maps}/a`)
    assert.deepEqual(object?.metadata.annotations, {
      ...(await scene.admin.request(`${plain}/a`)).object?.metadata.annotations,
      'example.com/color': 'red',
      'example.com/who': 'admin',
      'example.com/cluster': 'one',
    })
    const other = scene.oriel.as({ name: 'other', groups: ['system:masters'] })
    const { object: theirs } = await other.request(`${maps}/a`)
    assert.equal(theirs?.metadata.annotations?.['example.com/who'], 'other')
  })

  it('hides objects for which an annotation fails, and names the field in the status', async () => {
    assert.deepEqual(namesOf(await scene.admin.list(mapsOf('added'))), ['a'])
    assert.equal((await scene.admin.request(`${maps}/b`)).status, 404)
    const { status } = await scene.status('added', view => (view.status?.failures ?? []).length > 0)
    assert.deepEqual(status?.failures, [
      { field: 'spec.resources[0].annotate[example.com/color]', count: 1, reason: 'no such key' },
    ])
  })

  it('are columns', async () => {
    const { object } = await scene.admin.request(mapsOf('added'), { headers: table })
    const { columnDefinitions, rows } = object as unknown as {
      columnDefinitions: readonly { name: string; type: string }[]
      rows: readonly { cells: readonly unknown[] }[]
    }
    assert.deepEqual(
      columnDefinitions.map(({ name, type }) => `${name} ${type}`),
      ['Name string', 'Color string', 'Cluster string', 'Count integer'],
    )
    assert.deepEqual(
      rows.map(({ cells }) => cells),
      [['a', 'red', 'one', 2]],
    )
  })

  it('allows to write some fields, and names the others', async () => {
    const allowed = await patch('a', { data: { size: '2' }, metadata: { labels: { a: 'b' } } })
    assert.equal(allowed.status, 200, allowed.text)
    for (const [body, field] of [
      [{ data: { color: 'blue' } }, 'data.color'],
      [{ data: null }, 'data.color'],
      [{ data: { other: 'x', size: '3' } }, 'data.other'],
      [{ binaryData: { a: 'eA==' } }, 'binaryData.a'],
      [{ metadata: { annotations: { mine: 'x' } } }, 'metadata.annotations.mine'],
      [{ metadata: { finalizers: ['example.com/a'] } }, 'metadata.finalizers'],
      [
        { metadata: { annotations: { 'example.com/color': 'blue' } } },
        'metadata.annotations[example.com/color]',
      ],
      [{ data: { token: 'x' } }, 'data.token'],
      [{ immutable: true }, 'immutable'],
    ] as const) {
      const { status, text } = await patch('a', body)
      assert.equal(status, 422, `${JSON.stringify(body)}: ${text}`)
      const { causes } = JSON.parse(text).details
      assert.deepEqual(
        causes.map((cause: { field: string }) => cause.field),
        [field],
      )
    }
    const { object } = await scene.admin.request(`${plain}/a`)
    assert.deepEqual(object?.data, { color: 'red', size: '2' })
  })

  it('does not store what it adds', async () => {
    const { object } = await scene.admin.request(`${maps}/a`)
    const body = { ...object, data: { color: 'red', size: '9' } }
    const put = await scene.admin.request(`${maps}/a`, { method: 'PUT', body })
    assert.equal(put.status, 200, put.text)
    const { object: kept } = await scene.admin.request(`${plain}/a`)
    assert.deepEqual(
      Object.keys(kept?.metadata.annotations ?? {}).filter(name => name.includes('example')),
      [],
    )
    assert.deepEqual(kept?.data, { color: 'red', size: '9' })
  })

  it('limits the fields of new objects', async () => {
    const create = (data: object) =>
      scene.admin.request(maps, { method: 'POST', body: { ...configMap('new'), data } })
    const refused = await create({ color: 'red', size: '1' })
    assert.equal(refused.status, 422, refused.text)
    assert.match(refused.text, /data\.color: Forbidden: cannot be written/)
  })

  for (const [what, more, message] of [
    [
      'an annotation of kcp',
      { annotate: { 'kcp.io/cluster': "'root'" } },
      'annotations of kcp and Kubernetes',
    ],
    ['a wrong name', { annotate: { 'a b': "'x'" } }, 'spec.resources[0].annotate[a b]: '],
    [
      'a hidden field in an annotation',
      { hide: ['data'], annotate: { a: 'object.data.x' } },
      "undefined field 'data'",
    ],
    ['a number as annotation', { annotate: { a: '1' } }, 'must be of type string, but is of type int'],
    ['an unknown field', { hide: ['datas.x'] }, 'is not a field of ConfigMap in version v1'],
    ['a field of a text', { hide: ['data.x.y'] }, 'is not a field of ConfigMap in version v1'],
    ['an unknown field to write', { writable: ['spec'] }, 'is not a field of ConfigMap in version v1'],
    ['no path', { hide: ['data..x'] }, 'must be a path of fields'],
    ['the name', { hide: ['metadata.name'] }, 'is not one of metadata.labels'],
    ['the logical cluster', { hide: ['metadata.annotations[kcp.io/cluster]'] }, 'is needed to tell objects'],
    ['items of a list', { hide: ['data[*]'] }, 'must be a path of fields'],
    [
      'a writable path',
      { writable: ['metadata.uid'] },
      'spec.resources[0].writable[0]: "metadata.uid" is not',
    ],
  ] as const)
    it(`names a mistake: ${what}`, async () => {
      const view = await scene.view(ownView('wrong', configMapsWhere('true', more)))
      const found = view.status?.conditions?.find(({ type }) => type === 'ExpressionsValid')
      assert.equal(found?.status, 'False')
      assert.ok(found.message?.includes(message), found.message)
      assert.equal((await scene.admin.request(mapsIn('wrong'))).status, 404)
    })

  it('hides objects whose annotations would be too large, so that a View cannot multiply what is stored', async () => {
    const long = configMap('long', {}, { color: 'x'.repeat(200_000) })
    const longer = configMap('longer', {}, { color: 'x'.repeat(300_000) })
    await scene.oriel.cluster('one', long, longer)
    assert.equal((await scene.admin.request(`${maps}/long`)).status, 200)
    assert.equal((await scene.admin.request(`${maps}/longer`)).status, 404)
    const { status } = await scene.status('added', view => (view.status?.failures ?? []).length > 1)
    const reasons = (status?.failures ?? []).map(({ field, reason }) => `${field}: ${reason}`)
    assert.ok(
      reasons.includes('spec.resources[0].annotate: annotations have more than 262144 bytes'),
      `${reasons}`,
    )
  })
})
