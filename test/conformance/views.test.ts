import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { type Client, clientOf } from '../support/client.ts'
import { discard, eventually, type Oriel } from '../support/oriel.ts'
import { bindRegions, publish, region, sliceUrl, virtualExport } from '../support/published.ts'
import { startServer } from '../support/servers/kcp.ts'
import { apply, createWorkspaces, type Tenant } from '../support/tenants.ts'
import { configAt } from '../support/watcher.ts'
import { expect, merge, partial, post, remove, table } from './fixture.ts'

// Rules of reads, through the views that serve few kinds (rules.md sections 1, 2 and 4).

/** A collection that a view shows, over all logical clusters if it can, with at least one object in it. */
interface Shown {
  readonly kind: string
  readonly path: string
}

const logicalClusters = '/apis/core.kcp.io/v1alpha1/logicalclusters'
const schemas = '/apis/apis.kcp.io/v1alpha1/apiresourceschemas'
const regions = '/apis/example.com/v1/regions'

const workspaceType = (name: string, stage: 'initializer' | 'terminator'): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'WorkspaceType',
  metadata: { name },
  spec: { [stage]: true, extend: { with: [{ path: 'root', name: 'universal' }] } },
})

const workspace = (name: string, type: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: { type: { name: type, path: 'root:provider' } },
})

/** Workspaces with initializers and terminators, a published resource, and a binding. */
async function prepare({ kubectl, ...provider }: Tenant, consumer: Tenant): Promise<void> {
  await apply(kubectl, workspaceType('begun', 'initializer'), workspaceType('ended', 'terminator'))
  const made = () =>
    apply(kubectl, workspace('beginning', 'begun'), workspace('ending', 'ended')).catch(String)
  await eventually(made, said => said.includes('ending') && !said.includes('Error'))
  await kubectl(['wait', '--for=jsonpath={.status.phase}=Ready', '--timeout=60s', 'workspace/ending'])
  await kubectl(['delete', 'workspace/ending', '--wait=false'])
  const identity = await publish({ kubectl, ...provider })
  await apply(kubectl, ...virtualExport(identity, { name: 'regions' }))
  await kubectl(['wait', '--for=condition=IdentityValid', 'apiexport/example.com'])
  await bindRegions(consumer, { kubectl, ...provider })
  await apply(kubectl, region('north', { public: 'yes' }), region('south', { public: 'yes' }))
}

describe('reading through views', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let client: Client
  const shown = new Map<string, Shown>()

  before(async () => {
    oriel = await startServer(process.env.KCP_BIN ? ['--feature-gates=CacheAPIs=true'] : [])
    const [provider, consumer] = (await createWorkspaces(oriel, ['provider', 'consumer'])) as [Tenant, Tenant]
    await prepare(provider, consumer)
    client = await clientOf(configAt(oriel, oriel.viewsUrl, process.env.KCP_BIN ? 'base' : 'shard-base'))
    const at = (view: string, kind: string, path: string, cluster = '*') =>
      shown.set(view.split('/')[0] ?? '', { kind, path: `/services/${view}/clusters/${cluster}${path}` })
    const slice = new URL(await sliceUrl(provider)).pathname.replace('/services/', '')
    at(`initializingworkspaces/${provider.cluster}:begun`, 'LogicalCluster', logicalClusters)
    at(`terminatingworkspaces/${provider.cluster}:ended`, 'LogicalCluster', logicalClusters)
    at(`apiresourceschema/${consumer.cluster}`, 'APIResourceSchema', schemas)
    at(slice, 'Region', regions, consumer.cluster)
    for (const { path } of shown.values())
      await eventually(
        () => client(path),
        reply => reply.status === 200 && (reply.json().items?.length ?? 0) > 0,
      )
  })
  after(async () => {
    client?.close()
    await discard(oriel)
  })

  const views = ['initializingworkspaces', 'terminatingworkspaces', 'apiresourceschema', 'replication']
  for (const view of views)
    describe(view, () => {
      const found = (): Shown => shown.get(view) as Shown
      const ask = (query = '', accept?: string) =>
        client(found().path + query, accept === undefined ? {} : { headers: { accept } })

      it('lists objects with a version (4.1, 4.4)', async () => {
        const { kind, metadata, items } = await expect(200, ask())
        assert.equal(kind, `${found().kind}List`)
        assert.match(metadata.resourceVersion ?? '', /^\d+$/)
        assert.ok(
          items?.every(item => item.kind === found().kind && item.metadata.annotations?.['kcp.io/cluster']),
        )
      })

      it('lists Tables and metadata (1.28, 1.29, 7.55)', async () => {
        const { kind, rows } = (await ask('', table)).json<{ kind: string; rows: readonly object[] }>()
        assert.equal(kind, 'Table')
        const list = await expect(200, ask('', partial('PartialObjectMetadataList')))
        assert.equal(list.kind, 'PartialObjectMetadataList')
        assert.equal(list.items?.length, rows.length)
        assert.deepEqual([...new Set(list.items?.map(item => item.kind))], ['PartialObjectMetadata'])
      })

      it('pages (4.14, 4.16)', async () => {
        const all = (await expect(200, ask())).items ?? []
        const names: string[] = []
        let token = ''
        do {
          const page = await expect(200, ask(`?limit=1&continue=${encodeURIComponent(token)}`))
          names.push(...(page.items ?? []).map(({ metadata }) => metadata.uid ?? ''))
          token = page.metadata.continue ?? ''
        } while (token !== '')
        assert.deepEqual(names.sort(), all.map(({ metadata }) => metadata.uid ?? '').sort())
      })

      it('selects, and reports invalid selectors (4.28, 4.33)', async () => {
        const none = await expect(200, ask('?labelSelector=nobody%3Dhas-this'))
        assert.deepEqual(none.items, [])
        assert.equal((await expect(400, ask('?labelSelector=%3D'))).reason, 'BadRequest')
        const { message } = await expect(400, ask('?fieldSelector=spec.nothing%3Da'))
        assert.match(message ?? '', /field label not supported: spec.nothing/)
      })

      it('streams initial events, with a bookmark at their end (4.39, 4.55)', async () => {
        const query =
          '?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
        const stream = await client.watch(found().path + query)
        assert.equal(stream.status, 200)
        const types: string[] = []
        for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
          types.push(event.type)
          if (event.object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true') break
        }
        stream.leave()
        assert.equal(types.at(-1), 'BOOKMARK')
        assert.ok(types.length > 1 && types.slice(0, -1).every(type => type === 'ADDED'))
      })

      it('reads single objects, and returns 404 for missing ones (1.6, 2.7)', async () => {
        const [object] = (await expect(200, ask())).items ?? []
        const cluster = object?.metadata.annotations?.['kcp.io/cluster'] ?? ''
        // Schemas belong to the consumer, wherever their objects are stored.
        const path =
          view === 'apiresourceschema'
            ? found().path
            : found().path.replace('/clusters/*', `/clusters/${cluster}`)
        const one = await client(`${path}/${object?.metadata.name}`)
        assert.equal(one.status, 200, one.text)
        const missing = await expect(404, client(`${path}/missing`))
        assert.equal(missing.reason, 'NotFound')
      })

      it('has no other media types (1.24)', async () => {
        const { reason } = await expect(406, ask('', 'application/xml'))
        assert.equal(reason, 'NotAcceptable')
      })

      it('creates and deletes nothing (1.13, 2.7)', async () => {
        const body = { apiVersion: 'v1', kind: found().kind, metadata: { name: 'new' } }
        for (const sent of [post(body), remove(), merge({})]) {
          const { status, ...reply } = await client(found().path, sent)
          assert.ok(status >= 400 && status < 500, `${sent.method}: ${status}`)
          assert.equal(reply.json().kind, 'Status')
        }
      })
    })
})
