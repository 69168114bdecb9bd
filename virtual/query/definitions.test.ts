import assert from 'node:assert/strict'
import type { ApiResource, KubeObject } from '../../framework/index.ts'
import { combinedOf, oldestFirst } from './definitions.ts'
import { access, binding, QueryScene, rbac, things, where } from './testing/scene.ts'

/** A definition with a printer column, as a tenant writes it in its workspace. */
const definition = (
  scope: 'Namespaced' | 'Cluster',
  columns: readonly { name: string; type: string; jsonPath: string }[],
  selectable: readonly string[] = [],
): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    scope,
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: columns,
        selectableFields: selectable.map(jsonPath => ({ jsonPath })),
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { color: { type: 'string' }, secret: { type: 'string' } },
              },
            },
          },
        },
      },
    ],
  },
})

const thing = (name: string, color: string, namespace?: string): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, ...(namespace && { namespace }) },
  spec: { color, secret: 's3cret' },
})

const readable = [
  ...access,
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'things' },
    rules: [{ apiGroups: ['example.com'], resources: ['things'], verbs: ['list', 'watch'] }],
  },
  binding('ClusterRole', 'things', 'things'),
] as readonly KubeObject[]

const color = { name: 'Color', type: 'string', jsonPath: '.spec.color' }
const within = '/services/query/clusters/*/apis/example.com/v1/namespaces/default/things'

describe('a query over all logical clusters where another tenant defines the same resource', () => {
  let scene: QueryScene
  /** ada uses `home`; the owner of `attacker`, whose name is before it, has given her access. */
  beforeEach(async () => {
    scene = await QueryScene.start()
  })
  afterEach(() => scene.oriel.close())

  const serve = (cluster: string, ...objects: readonly KubeObject[]): Promise<unknown> =>
    scene.oriel.cluster(cluster, ...readable, ...objects)

  interface Table {
    readonly columnDefinitions: readonly { readonly name: string }[]
    readonly rows: readonly { readonly cells: readonly unknown[] }[]
  }
  const table = async (at: string): Promise<Table> => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { object, status, text } = await scene.ada.request(at, { headers: { accept } })
    assert.equal(status, 200, text)
    return object as unknown as Table
  }

  it('prints each object with the columns of its own definition', async () => {
    await serve('home', definition('Cluster', [color]), thing('mine', 'red'))
    const before = await table(things())
    const secret = { name: 'Color', type: 'string', jsonPath: '.spec.secret' }
    const other = { name: 'Price', type: 'string', jsonPath: '.spec.secret' }
    await serve('attacker', definition('Cluster', [secret, other]), thing('theirs', 'blue'))
    const after = await table(things())
    const names = after.columnDefinitions.map(({ name }) => name)
    assert.deepEqual([...names].sort(), ['Color', 'Name', 'Price', 'Workspace'])
    assert.equal(names.at(-1), 'Workspace')
    const row = after.rows.find(({ cells }) => cells[0] === 'mine')
    const cells = Object.fromEntries(names.map((name, i) => [name, row?.cells[i]]))
    assert.deepEqual(cells, { Name: 'mine', Color: 'red', Price: null, Workspace: before.rows[0]?.cells[2] })
  })

  it('has at most 64 columns of others, so that they cannot make tables large', async () => {
    await serve('home', definition('Cluster', [color]), thing('mine', 'red'))
    const many = Array.from({ length: 500 }, (_, i) => ({ ...color, name: `C${i}` }))
    await serve('attacker', definition('Cluster', many), thing('theirs', 'blue'))
    const { columnDefinitions, rows } = await table(things())
    assert.ok(columnDefinitions.length <= 2 + 64, String(columnDefinitions.length))
    const at = columnDefinitions.findIndex(({ name }) => name === 'Color')
    assert.equal(rows.find(({ cells }) => cells[0] === 'mine')?.cells[at], 'red')
  })

  for (const [own, other] of [
    ['Namespaced', 'Cluster'],
    ['Cluster', 'Namespaced'],
  ] as const)
    it(`finds ${own.toLowerCase()}-scoped objects where the other definition is ${other.toLowerCase()}-scoped`, async () => {
      const placed = (scope: string) => (scope === 'Namespaced' ? 'default' : undefined)
      await serve('home', definition(own, [color]), thing('mine', 'red', placed(own)))
      await serve('attacker', definition(other, [color]), thing('theirs', 'red', placed(other)))
      assert.deepEqual(await scene.found(scene.ada, things()), ['attacker/theirs', 'home/mine'])
      const inNamespace = await scene.ada.request(within)
      assert.equal(inNamespace.status, 200, inNamespace.text)
      const namespaced = own === 'Namespaced' ? 'home/mine' : 'attacker/theirs'
      assert.deepEqual(await scene.found(scene.ada, within), [namespaced])
      const watch = await scene.ada.watch(within)
      await watch.until(events => events.length === 1)
      watch.close()
    })

  it('warns that a request for a namespace leaves out objects without namespaces', async () => {
    await serve('home', definition('Cluster', [color]), thing('mine', 'red'))
    await serve('attacker', definition('Namespaced', [color]))
    const { warning } = await scene.ada.request(within)
    assert.match(warning, /things without namespaces.*home/)
  })

  it('selects by a field that only one of the definitions has', async () => {
    const own = definition('Cluster', [color], ['.spec.color'])
    await serve('home', own, thing('mine', 'red'), thing('other', 'blue'))
    await serve('attacker', definition('Cluster', []), thing('theirs', 'red'))
    const at = things(where('true', '&fieldSelector=spec.color%3Dred'))
    assert.deepEqual(await scene.found(scene.ada, at), ['home/mine'])
    assert.match((await scene.ada.request(at)).warning, /spec\.color.*attacker/)
    const watch = await scene.ada.watch(at)
    await watch.until(events => events.length === 1)
    assert.deepEqual(watch.lines(), ['ADDED mine'])
    watch.close()
    const unknown = await scene.ada.request(things(where('true', '&fieldSelector=spec.secret%3Dx')))
    assert.equal(unknown.status, 400, unknown.text)
  })
})

describe('the columns of one definition', () => {
  it('are found without comparing each with each, for each cell', () => {
    let reads = 0
    const columns = Array.from({ length: 1_000 }, (_, i) => ({
      get name() {
        reads++
        return `c${i}`
      },
      type: 'string',
      cell: () => i,
    }))
    const definition = { columns, namespaced: true, verbs: ['list'] } as unknown as ApiResource
    const { columns: combined } = combinedOf([definition], () => definition)
    const object = thing('a', 'red')
    for (let row = 0; row < 3; row++)
      assert.deepEqual(
        combined.map(({ cell }) => cell(object, new Date(0))),
        columns.map((_, i) => i),
      )
    assert.ok(reads < 20_000, String(reads))
  })
})

describe('oldestFirst', () => {
  it('puts a later logical cluster after those that the user knew, whatever its name is', () => {
    const created: Readonly<Record<string, string>> = {
      a: '2026-05-02T00:00:00Z',
      b: '2026-05-01T00:00:00Z',
      c: '2026-05-02T00:00:00Z',
    }
    assert.deepEqual(
      oldestFirst(['a', 'b', 'c', 'd'], name => created[name]),
      ['b', 'a', 'c', 'd'],
    )
  })
})
