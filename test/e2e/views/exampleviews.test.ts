import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import sqlite from 'node-sqlite3-wasm'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { discard, eventually, type Oriel, startOriel } from '../../support/oriel.ts'
import { startStandalone } from '../../support/servers/standalone.ts'
import { root } from '../../support/source.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { contractUser } from '../../support/views/contractuser.ts'
import { deployment, deployments, syncTarget, syncTargets } from '../../support/views/examplecrds.ts'
import { configAt, userAt } from '../../support/watcher.ts'

const examples = ['clusterinfo', 'namereview', 'rest', 'table', 'syncer', 'owned']
/** The names of their views. */
const views = ['clusterinfo', 'namereview', 'stations', 'books', 'syncer', 'owned']

/** The file of `--views` with the examples that `viewplugins.test.ts` does not have. */
const listOf = (options: object, isolate: boolean): string =>
  JSON.stringify({
    views: examples.map(name => ({ view: join(root, `dist/examples/views/${name}.js`), options, isolate })),
  })

/** Whether the statement was executed: the file is locked while the view reads it. */
async function isWritten(
  database: InstanceType<typeof sqlite.Database>,
  statement: string,
): Promise<boolean> {
  try {
    database.exec(statement)
    return true
  } catch {
    return false
  }
}

const merge = { 'content-type': 'application/merge-patch+json' }

type Start = (views: readonly string[], tokens: readonly string[]) => Promise<Oriel>

const flows = (start: Start, isolate: boolean) =>
  function (this: Mocha.Suite): void {
    this.timeout(180_000)
    let oriel: Oriel
    let tenant: Tenant
    let boss: Client
    let shard: Client
    let syncer: Client
    let service: Server
    let database: InstanceType<typeof sqlite.Database>
    let stations: readonly object[] = [{ id: 'oslo', celsius: 3 }]
    const own = (view: string, cluster: string, path: string): string =>
      `/services/${view}/clusters/${cluster}/apis/${path}`
    const listed = (client: Client, path: string, isEnough: (items: readonly KubeObject[]) => boolean) =>
      eventually(
        async () => (await client(path)).json<{ items?: readonly KubeObject[] }>().items ?? [],
        isEnough,
      )

    const create = async (path: string, body: KubeObject): Promise<void> => {
      const headers = { 'content-type': 'application/json' }
      await eventually(
        () => shard(`/clusters/${tenant.cluster}${path}`, { method: 'POST', headers, body }),
        ({ status }) => status === 201,
      )
    }

    before(async () => {
      const folder = await temporaryDirectory('examples')
      const at = (name: string) => join(folder, name)
      database = new sqlite.Database(at('books.db'))
      database.exec(
        "CREATE TABLE books (isbn TEXT, title TEXT, stock INT); INSERT INTO books VALUES ('1', 'Emma', 2)",
      )
      service = createServer((_, response) => response.end(JSON.stringify(stations)))
      await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
      const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
      await writeFile(at('views.yaml'), listOf({ url, file: at('books.db'), seconds: 0.1 }, isolate))
      await writeFile(at('tokens.csv'), 'syncer-token,syncer,1,"syncer:east"\n')
      oriel = await start(['--views', at('views.yaml')], ['--token-auth-file', at('tokens.csv')])
      ;[tenant] = (await createWorkspaces(oriel, ['one'])) as [Tenant]
      boss = await clientOf(configAt(oriel, oriel.viewsUrl, 'shard-base'))
      shard = await clientOf(configAt(oriel, oriel.url, 'shard-base'))
      syncer = await clientOf(userAt(oriel, oriel.viewsUrl, 'syncer-token'))
      // Views in processes of their own are ready later than the server.
      for (const view of views)
        await eventually(
          () => boss(`/readyz/${view}`),
          ({ status }) => status === 200,
        )
    })
    after(async () => {
      await discard(oriel)
      database.close()
      service.close()
    })

    it('computes one object for each logical cluster', async () => {
      const path = own('clusterinfo', tenant.cluster, 'example.com/v1/clusterinfos')
      const [found] = await listed(boss, path, ([each]) => each?.phase === 'Ready')
      assert.equal(found?.metadata.name, 'this')
    })

    it('reviews names, and stores nothing', async () => {
      const body = { apiVersion: 'example.com/v1', kind: 'NameReview', spec: { name: 'x' } }
      const headers = { 'content-type': 'application/json' }
      const path = own('namereview', tenant.cluster, 'example.com/v1/namereviews')
      const { status, text } = await boss(path, { method: 'POST', headers, body })
      assert.equal(status, 201, text)
      assert.match(text, /the name must match/)
      assert.equal((await boss(path)).status, 405)
    })

    it('shows the rows of a SQLite file, and watches them', async () => {
      const path = own('books', 'root', 'library.example.com/v1/books')
      const watch = await contractUser(boss).watch(path)
      await watch.until(events => events.length === 1)
      await eventually(
        () => isWritten(database, "INSERT INTO books VALUES ('2', 'Ulysses', 7)"),
        written => written,
      )
      const [, added] = await watch.until(events => events.length === 2)
      watch.close()
      assert.deepEqual([added?.type, added?.object.title], ['ADDED', 'Ulysses'])
      const [found] = await listed(
        boss,
        `${path}?fieldSelector=title%3DUlysses`,
        ({ length }) => length === 1,
      )
      assert.equal(found?.stock, 7)
    })

    it('shows the objects of a REST service, and watches them', async () => {
      const watch = await contractUser(boss).watch(own('stations', 'root', 'weather.example.com/v1/stations'))
      await watch.until(events => events.length === 1)
      stations = [{ id: 'oslo', celsius: 5 }]
      const [, changed] = await watch.until(events => events.length === 2)
      watch.close()
      assert.deepEqual([changed?.type, changed?.object.celsius], ['MODIFIED', 5])
    })

    it('shows a label of the namespace on config maps, and watches it', async () => {
      const motto = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'motto', namespace: 'default' } }
      await create('/api/v1/namespaces/default/configmaps', motto)
      const path = `/services/owned/clusters/${tenant.cluster}/api/v1/namespaces/default/configmaps`
      const watch = await contractUser(boss).watch(`${path}?fieldSelector=metadata.name%3Dmotto`)
      await watch.until(events => events.length === 1)
      await shard(`/clusters/${tenant.cluster}/api/v1/namespaces/default`, {
        method: 'PATCH',
        headers: merge,
        body: { metadata: { labels: { owner: 'ops' } } },
      })
      const [, changed] = await watch.until(events => events.length === 2)
      watch.close()
      const { annotations, resourceVersion } = changed?.object.metadata ?? {}
      assert.deepEqual([changed?.type, annotations?.['example.com/owner']], ['MODIFIED', 'ops'])
      const { metadata } = (await boss(`${path}/motto`)).json()
      assert.equal(metadata.resourceVersion, resourceVersion)
    })

    it('shows a target its share of Deployments, and takes their status', async () => {
      for (const each of [deployments, syncTargets])
        await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', each)
      // Its kind is served a moment after its definition.
      await create('/apis/workload.example.com/v1alpha1/synctargets', syncTarget)
      for (const each of [deployment('web', 5, 'east', 'west'), deployment('hidden', 1, 'west')])
        await create('/apis/apps/v1/namespaces/default/deployments', each)
      const path = `/services/syncer/east/clusters/${tenant.cluster}/apis/apps/v1/namespaces/default/deployments`
      const found = await listed(syncer, path, ({ length }) => length > 0)
      assert.deepEqual(
        found.map(({ metadata, spec }) => [metadata.name, (spec as { replicas: number }).replicas]),
        [['web', 3]],
      )
      const headers = merge
      const written = await syncer(`${path}/web/status`, {
        method: 'PATCH',
        headers,
        body: { status: { replicas: 3 } },
      })
      assert.equal(written.status, 200, written.text)
      const below = `/clusters/${tenant.cluster}/apis`
      const { status } = (
        await shard(`${below}/apps/v1/namespaces/default/deployments/web`)
      ).json<KubeObject>()
      assert.deepEqual(status, { replicas: 3, targets: { east: { replicas: 3 } } })
      const target = await eventually(
        async () =>
          (await shard(`${below}/workload.example.com/v1alpha1/synctargets/east`)).json<KubeObject>(),
        object => object.status !== undefined,
      )
      assert.match(JSON.stringify(target.status), /https:.*\/services\/syncer\/east/)
    })
  }

const started: Start = (views, tokens) => startOriel({ args: [...views, ...tokens, '--store', 'memory:'] })

describe('the examples of views', flows(started, false))
describe('the examples of views in front of a shard', flows(startStandalone, false))
describe('the examples of views, isolated', flows(started, true))
