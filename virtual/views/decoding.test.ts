import assert from 'node:assert/strict'
import { type ApiSet, type Item, itemOf, type RequestContext, type Selection } from '../../framework/index.ts'
import { planOf, type ResourcePlan } from './plan.ts'
import { labelledBy } from './selectors.ts'
import { plannedStorage } from './testing/planned.ts'
import type { ViewObject, ViewResource } from './types.ts'

const facts = { name: 'one', path: 'root:one', labels: { tier: 'gold' }, annotations: {} }
const ctx = {
  user: { name: 'ada', groups: [] },
  signal: new AbortController().signal,
} as unknown as RequestContext

/** A source with objects that count how often their bodies are decoded, and what was asked of it. */
function countedSource() {
  let decoded = 0
  const asked: Selection[] = []
  const items = ['red', 'blue'].map((team, i) => {
    const metadata = { name: `n${i}`, labels: { team }, resourceVersion: '1' }
    const { meta, key, bytes } = itemOf(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } },
      'one',
    )
    return {
      meta,
      key,
      bytes,
      get object() {
        decoded++
        return JSON.parse(bytes.toString())
      },
    } as Item
  })
  const storage = {
    async *list(_ctx: RequestContext, query: Selection) {
      asked.push(query)
      yield items
      return { resourceVersion: '1' }
    },
    async *watch(_ctx: RequestContext, query: Selection) {
      asked.push(query)
      yield items.map(item => ({ type: 'MODIFIED', item, previous: item }))
    },
  }
  const names = { plural: 'configmaps', kind: 'ConfigMap', listKind: 'ConfigMapList', singular: 'configmap' }
  const openapi = {
    type: 'object',
    properties: { data: { type: 'object', additionalProperties: { type: 'string' } } },
  }
  const resource = {
    group: '',
    version: 'v1',
    names,
    openapi,
    storage,
    columns: [],
    verbs: [],
    subresources: [],
  }
  return { source: { resources: [resource] } as unknown as ApiSet, asked, decoded: () => decoded }
}

function viewOver(source: ApiSet, where: string, more: Partial<ViewResource> = {}) {
  const resources = [{ resource: 'configmaps', verbs: ['list', 'watch'], where, ...more }]
  const object = { metadata: {}, spec: { source: { cluster: '.' }, resources } } as unknown as ViewObject
  const { resources: plans, problems } = planOf(object, source, () => facts)
  assert.deepEqual(problems, [])
  const plan = plans[0] as ResourcePlan
  return plannedStorage(plan, { labelled: labelledBy(plan), facts })
}

/** The names of the objects of a list, and of the events of a watch. */
async function read(storage: ReturnType<typeof viewOver>): Promise<readonly string[]> {
  const found: string[] = []
  for await (const batch of storage.list(ctx, { cluster: '*' }))
    for (const { key } of batch) found.push(key.name)
  const query = { cluster: '*', resourceVersion: '1', initialEvents: false, bookmarks: false }
  for await (const batch of storage.watch(ctx, query)) for (const { item } of batch) found.push(item.key.name)
  return found
}

describe('an expression of a View', () => {
  for (const [where, names] of [
    ["object.metadata.labels['team'] == 'red'", ['n0', 'n0']],
    ["object.metadata.name == 'n1' && cluster.labels['tier'] == 'gold'", ['n1', 'n1']],
    ["user.name == 'ada' && !('x' in object.metadata.annotations)", ['n0', 'n1', 'n0', 'n1']],
  ] as const)
    it(`decodes no object if it reads metadata only: ${where}`, async () => {
      const { source, decoded } = countedSource()
      const added = viewOver(source, where, { annotate: { 'example.com/path': 'cluster.path' } })
      assert.deepEqual(await read(added), names)
      assert.equal(decoded(), 0)
    })

  it('decodes objects if it reads other fields', async () => {
    const { source, decoded } = countedSource()
    assert.deepEqual(await read(viewOver(source, "object.data.a == 'b'")), ['n0', 'n1', 'n0', 'n1'])
    assert.ok(decoded() > 0)
  })

  it('selects in the source by the labels that it compares, also with hidden fields', async () => {
    for (const hide of [[], ['metadata.labels[team]']]) {
      const { source, asked } = countedSource()
      await read(
        viewOver(source, "object.metadata.labels['team'] == 'red' && object.data.a == 'b'", { hide }),
      )
      assert.equal(asked.length, 2)
      for (const { labels } of asked)
        assert.deepEqual(labels, { requirements: [{ key: 'team', operator: 'in', values: ['red'] }] })
    }
  })

  it('is evaluated once for each version of an object, for all watchers of all Views that have it', async () => {
    const { source, decoded } = countedSource()
    // Results are kept for all tests: this expression is only here.
    const where = "object.data.a == 'b' && object.data.a != 'counted'"
    const views = Array.from({ length: 20 }, () => viewOver(source, where))
    for (const view of views)
      for (let i = 0; i < 5; i++) assert.deepEqual(await read(view), ['n0', 'n1', 'n0', 'n1'])
    assert.equal(decoded(), 2)
  })

  it('makes one item for all watchers of a View, so that it is encoded once', async () => {
    const { source } = countedSource()
    const more = { hide: ['data'], annotate: { 'example.com/name': 'object.metadata.name' } }
    const view = viewOver(source, "object.data.a == 'b'", more)
    const shown = new Set<Buffer>()
    const query = { cluster: '*', resourceVersion: '1', initialEvents: false, bookmarks: false }
    for (let i = 0; i < 20; i++)
      for await (const batch of view.watch(ctx, query)) for (const { item } of batch) shown.add(item.bytes)
    assert.equal(shown.size, 2)
    for (const bytes of shown) assert.match(bytes.toString(), /"example.com\/name":"n\d"/)
  })
})
