import assert from 'node:assert/strict'
import team from '../examples/views/team.ts'
import type { ViewPlugin } from '../framework/plugin.ts'
import { type Installation, startInstallation, type TestUser, viewContract } from './index.ts'

const configMap = (name: string, of: string, data = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { team: of } },
  data,
})
const path = '/services/team/ops/clusters/one/api/v1/namespaces/default/configmaps'

describe('an installation for tests', () => {
  let oriel: Installation
  let ada: TestUser
  before(async () => {
    oriel = await startInstallation({ plugins: [team] })
    await oriel.cluster('one', configMap('a', 'ops'), configMap('b', 'red', { word: 'sesame' }))
    await oriel.cluster('two', configMap('c', 'ops'))
    ada = oriel.as({ name: 'ada', groups: ['team:ops'] })
  })
  after(() => oriel.close())

  for (const { name, run } of viewContract({
    user: () => ada,
    path,
    shown: 'a',
    hidden: 'b',
    secret: 'sesame',
    selectors: ['labelSelector=team%3Dred', 'labelSelector=team%21%3Dops'],
  }))
    it(`a view ${name}`, run)

  it('serves the view over all logical clusters, and authorizes', async () => {
    const found = await ada.list('/services/team/ops/clusters/*/api/v1/configmaps')
    assert.deepEqual(
      found.map(({ metadata }) => metadata.name),
      ['a', 'c'],
    )
    assert.equal((await oriel.as('bob').request(path)).status, 403)
    await assert.rejects(
      oriel.as('bob').list(path),
      /^Error: GET \/services\/.*: 403 .*User "bob" cannot list/,
    )
  })

  it('watches objects that come, change and leave', async () => {
    const watch = await ada.watch(path)
    await watch.until(events => events.length === 1)
    await oriel.cluster('one', configMap('d', 'ops'))
    const admin = oriel.as({ name: 'admin', groups: ['system:masters'] })
    const own = '/clusters/one/api/v1/namespaces/default/configmaps'
    await admin.request(`${own}/d`, { method: 'PATCH', body: { metadata: { labels: { team: 'red' } } } })
    await watch.until(events => events.length === 3)
    assert.deepEqual(watch.lines(), ['ADDED a', 'ADDED d', 'DELETED d'])
    watch.close()
  })

  it('has the failures of a view with file and line', async () => {
    const sick: ViewPlugin = ({ apiSetOf, defineVirtualWorkspace }) =>
      defineVirtualWorkspace('sick', '/services/sick', ({ backend }) => {
        const found = backend.apis('*')?.find('', 'v1', 'configmaps')
        const apis = apiSetOf(found === undefined ? [] : [found])
        return { apis: () => apis, authorize: async () => true as never }
      })
    const other = await startInstallation({ plugins: [sick] })
    await other.cluster('one')
    const { status } = await other.as('ada').request(path.replace('team/ops', 'sick'))
    await other.close()
    assert.equal(status, 500)
    assert.match(
      other.failures[0] ?? '',
      /installation\.test\.[jt]s:\d+:\d+: view sick failed: authorize must return/,
    )
  })

  it('finds the leaks of a view', async () => {
    // Filters lists only, and shows the version of a hidden object by its conflict.
    const leaky: ViewPlugin = ({ allow, apiSetOf, defineVirtualWorkspace, loopback }) =>
      defineVirtualWorkspace('team', '/services/team/:team', ({ backend }) => {
        const found = backend.apis('*')?.find('', 'v1', 'configmaps')
        if (found === undefined) throw new Error('there are no config maps')
        const { storage } = found
        const list: typeof storage.list = async function* (ctx, query) {
          const below = storage.list(ctx, query)
          let next = await below.next()
          for (; !next.done; next = await below.next())
            yield Array.from(next.value).filter(({ meta }) => meta.labels.team === 'ops')
          return next.value
        }
        const apis = apiSetOf([{ ...found, storage: { ...storage, list } }])
        return { apis: () => apis, authorize: async () => allow('a test'), actAs: () => loopback }
      })
    const other = await startInstallation({ plugins: [leaky] })
    await other.cluster('one', configMap('a', 'ops'), configMap('b', 'red', { word: 'sesame' }))
    const options = { path, shown: 'a', hidden: 'b', secret: 'sesame' }
    const failed: string[] = []
    for (const { name, run } of viewContract({ ...options, user: () => other.as('ada') }))
      await run().catch(() => failed.push(name))
    await other.close()
    assert.deepEqual(failed, [
      'answers for a hidden object as for a missing one',
      'watches the same as it lists',
      'shows no resourceVersion of a hidden object',
    ])
  })

  it('serves the objects of CustomResourceDefinitions', async () => {
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
    const openAPIV3Schema = { type: 'object', properties: { size: { type: 'integer', maximum: 3 } } }
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
    await oriel.cluster('custom', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.org' },
      spec: { group: 'example.org', names, scope: 'Cluster', versions },
    })
    await oriel.cluster('custom', { apiVersion: 'example.org/v1', kind: 'Widget', metadata: { name: 'a' } })
    const admin = oriel.as({ name: 'admin', groups: ['system:masters'] })
    const widgets = '/clusters/custom/apis/example.org/v1/widgets'
    assert.equal((await admin.list(widgets)).length, 1)
    const body = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: { name: 'b' }, size: 9 }
    assert.equal((await admin.request(widgets, { method: 'POST', body })).status, 422)
  })

  it('says which plugin is none', async () => {
    const refused = (plugin: unknown, problem: string) =>
      assert.rejects(startInstallation({ plugins: [team, plugin as ViewPlugin] }), ({ message }: Error) =>
        message.includes(problem),
      )
    await refused({ default: team }, 'plugins[1]: the default export must be a function that returns a view')
    await refused(() => ({}), 'the plugin must return a view made by defineVirtualWorkspace()')
  })

  it('refuses kinds that there are not', async () => {
    const bad = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } }
    await assert.rejects(
      oriel.cluster('one', bad),
      /the logical cluster one has no kind Widget in example\.com\/v1/,
    )
  })
})
