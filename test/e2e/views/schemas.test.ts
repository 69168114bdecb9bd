import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { discard, eventually, type Oriel } from '../../support/oriel.ts'
import { startServer } from '../../support/servers/kcp.ts'
import { apply, bind, bindingOf, createWorkspaces, publishedUrl, type Tenant } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'

const storageVersion = (name: string, properties: object) => ({
  name,
  served: true,
  storage: true,
  schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
})
const servedVersion = (name: string, properties: object) => ({
  ...storageVersion(name, properties),
  storage: false,
})
const shape = (fallback: string) => ({ type: 'string', default: fallback })
const size = { type: 'integer' }

const schema = (prefix: string, versions: readonly object[]): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { name: `${prefix}.widgets.example.io` },
  spec: {
    group: 'example.io',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Cluster',
    versions,
    conversion: { strategy: 'None' },
  },
})
const exportOf = (prefix: string): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name: 'widgets' },
  spec: {
    resources: [
      { group: 'example.io', name: 'widgets', schema: `${prefix}.widgets.example.io`, storage: { crd: {} } },
    ],
  },
})
const widget = (name: string): KubeObject => ({
  apiVersion: 'example.io/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { size: 1, colour: 'red' },
})

const first = schema('first', [storageVersion('v1', { size, colour: { type: 'string' } })])
const second = schema('second', [
  servedVersion('v1', { size, shape: shape('round in v1') }),
  storageVersion('v2', { size, shape: shape('round in v2'), weight: { type: 'integer', default: 7 } }),
])

const third = schema('third', [storageVersion('v3', { color: { type: 'string' } })])

/** An object stored as v1 gets the defaults of v1, not those of v2. */
const shown = { size: 1, shape: 'round in v1' }

describe('bound schemas', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let provider: Tenant
  let consumer: Tenant
  let workspace: Client
  let view: Client
  const pathIn = (apiVersion: string): string => `/apis/example.io/${apiVersion}/widgets`
  const specIn = async (apiVersion: string, client: Client = workspace): Promise<unknown> => {
    const reply = await client(pathIn(apiVersion))
    const { items } = reply.status === 200 ? reply.json() : {}
    return items?.find(({ metadata }) => metadata.name === 'old')?.spec
  }

  before(async () => {
    oriel = await startServer()
    const tenants = await createWorkspaces(oriel, ['provider', 'consumer'])
    provider = tenants[0] as Tenant
    consumer = tenants[1] as Tenant
    await apply(provider.kubectl, first, exportOf('first'))
    await bind(consumer, bindingOf(provider, 'widgets', []))
    await consumer.kubectl(['create', '-f', '-'], JSON.stringify(widget('old')))
    workspace = await clientOf(configAt(oriel, `${oriel.url}/clusters/${consumer.path}`))
    view = workspace.at(`${await publishedUrl(provider, 'widgets')}/clusters/*`)
  })
  after(() => {
    workspace.close()
    return discard(oriel)
  })

  it('show the metadata of their objects to users of all logical clusters', async () => {
    const everywhere = await clientOf(configAt(oriel, `${oriel.url}/clusters/*`, 'shard-base'))
    const headers = {
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    }
    const { kind, items = [] } = (await everywhere(pathIn('v1'), { headers })).json()
    assert.equal(kind, 'PartialObjectMetadataList')
    const [{ metadata } = assert.fail('there is nothing'), ...others] = items
    assert.deepEqual(others, [])
    assert.deepEqual(metadata.annotations, {
      'kcp.io/cluster': consumer.cluster,
      'kcp.io/original-api-version': 'example.io/v1',
    })
    assert.equal((await everywhere(pathIn('v1'))).status, 404, 'not without an identity')
    assert.equal((await workspace.at(`${oriel.url}/clusters/*`)(pathIn('v1'), { headers })).status, 403)
    everywhere.close()
  })

  describe('and replaced', () => {
    before(async () => {
      await apply(provider.kubectl, second, exportOf('second'))
      for (const client of [workspace, view])
        for (const apiVersion of ['v1', 'v2'])
          await eventually(
            () => specIn(apiVersion, client),
            spec => JSON.stringify(spec)?.includes('shape') === true,
          )
    })

    for (const apiVersion of ['v1', 'v2']) {
      it(`serve objects in ${apiVersion} with the new schema`, async () => {
        assert.deepEqual((await workspace(`${pathIn(apiVersion)}/old`)).json().spec, shown)
        assert.deepEqual(await specIn(apiVersion), shown)
        const watch = await workspace.watch(`${pathIn(apiVersion)}?watch=true`)
        const event = await watch.next()
        watch.leave()
        assert.deepEqual(event?.object.spec, shown)
      })

      it(`serve the same in ${apiVersion} through the view`, async () => {
        assert.deepEqual(await specIn(apiVersion, view), shown)
      })
    }

    it('store the defaults with the next write, for any change', async () => {
      const read = () => consumer.kubectl.json<KubeObject>(['get', 'widgets.v2.example.io', 'old'])
      const { resourceVersion } = (await read()).metadata
      await consumer.kubectl(['patch', 'widgets.v2.example.io', 'old', '--type=merge', '-p', '{}'])
      const { metadata, spec } = await read()
      assert.notEqual(metadata.resourceVersion, resourceVersion)
      assert.deepEqual(spec, { ...shown, weight: 7 })
    })
  })

  describe('and replaced by one without the version of a stored object', () => {
    const refusal = 'request to convert CR from an invalid group/version: example.io/v2'
    before(async () => {
      await apply(provider.kubectl, third, exportOf('third'))
      await eventually(
        () => workspace(pathIn('v3')),
        ({ status }) => status !== 403 && status !== 404,
      )
    })

    it('show nothing of it, as kcp, instead of an object without its fields', async () => {
      for (const path of [pathIn('v3'), `${pathIn('v3')}/old`]) {
        const reply = await workspace(path)
        assert.deepEqual([reply.status, reply.json().message?.includes(refusal)], [500, true])
      }
    })

    it('store nothing of it, so that its fields are there with the version again', async () => {
      const patch = { method: 'PATCH', body: '{"spec":{"color":"red"}}' } as const
      const headers = { 'content-type': 'application/merge-patch+json' }
      const reply = await workspace(`${pathIn('v3')}/old`, { ...patch, headers })
      assert.deepEqual([reply.status, reply.json().message?.includes(refusal)], [500, true])
      await apply(provider.kubectl, exportOf('second'))
      const spec = await eventually(
        () => specIn('v2'),
        found => found !== undefined,
      )
      assert.deepEqual(spec, { ...shown, weight: 7 })
    })
  })

  describe('and deleted', () => {
    before(() => provider.kubectl(['delete', 'apiresourceschemas', '--all']))

    it('are still served where they are bound', async () => {
      const condition = () =>
        consumer.kubectl([
          'get',
          'apibinding',
          'widgets',
          '-o',
          'jsonpath={.status.conditions[?(@.type=="APIExportValid")].message}',
        ])
      await eventually(condition, text =>
        text.includes('APIResourceSchema "second.widgets.example.io" not found'),
      )
      assert.deepEqual(await specIn('v1'), shown)
      await apply(consumer.kubectl, { ...widget('new'), apiVersion: 'example.io/v2', spec: { size: 2 } })
    })

    it('are still served when the export is gone', async () => {
      await provider.kubectl(['delete', 'apiexport', 'widgets'])
      assert.deepEqual(await specIn('v1'), shown)
    })

    it('are deleted with the binding, together with their objects', async () => {
      await consumer.kubectl(['delete', 'apibinding', 'widgets', '--timeout=60s'])
      assert.equal((await workspace(pathIn('v1'))).status, 404)
      await apply(provider.kubectl, second, exportOf('second'))
      await bind(consumer, bindingOf(provider, 'widgets', []))
      assert.deepEqual((await workspace(pathIn('v1'))).json().items, [])
    })
  })
})
