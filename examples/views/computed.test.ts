import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import sqlite from 'node-sqlite3-wasm'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { type Installation, startInstallation, type TestUser } from '../../testing/index.ts'
import clusterInfo from './clusterinfo.ts'
import nameReview from './namereview.ts'
import report from './report.ts'
import rest from './rest.ts'
import table from './table.ts'
import usage from './usage.ts'

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const asTable = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }
interface Table {
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}

describe('the examples with objects of their own', () => {
  let oriel: Installation
  let admin: TestUser
  let service: Server
  let database: InstanceType<typeof sqlite.Database>
  let stations: readonly unknown[]
  before(async () => {
    const file = join(await temporaryDirectory('books'), 'books.db')
    database = new sqlite.Database(file)
    database.exec(
      "CREATE TABLE books (isbn TEXT, title TEXT, stock INT); INSERT INTO books VALUES ('1', 'Emma', 2)",
    )
    stations = [{ id: 'oslo', celsius: 3 }]
    service = createServer((_, response) => response.end(JSON.stringify(stations)))
    await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
    const options = {
      file,
      cluster: 'one',
      seconds: 0.02,
      url: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    }
    const plugins = [clusterInfo, nameReview, report, rest, table, usage]
    oriel = await startInstallation({ plugins, options })
    await oriel.cluster('one', configMap('a'), configMap('b'))
    await oriel.cluster('two', configMap('c'))
    admin = oriel.as({ name: 'admin', groups: ['system:masters'] })
  })
  after(async () => {
    await oriel.close()
    database.close()
    service.close()
  })
  const own = (view: string, cluster: string, rest: string): string =>
    `/services/${view}/clusters/${cluster}/apis/${rest}`

  it('computes one object for each logical cluster', async () => {
    const path = own('clusterinfo', '*', 'example.com/v1/clusterinfos')
    const watch = await admin.watch(path)
    await oriel.cluster('three')
    await watch.until(events =>
      events.some(({ object }) => object.metadata.annotations?.['kcp.io/cluster'] === 'three'),
    )
    watch.close()
    const found = await admin.list(path)
    assert.deepEqual(
      found.map(({ metadata }) => metadata.annotations?.['kcp.io/cluster']),
      ['one', 'three', 'two'],
    )
    assert.equal((await admin.request(`${path.replace('*', 'one')}/this`)).status, 200)
  })

  it('authorizes readers of computed objects by RBAC in their logical cluster', async () => {
    const path = own('clusterinfo', 'one', 'example.com/v1/clusterinfos')
    const { status, object } = await oriel.as('bob').request(path)
    assert.deepEqual([status, object?.message?.split(':')[0]], [403, 'clusterinfos.example.com is forbidden'])
  })

  it('counts by events', async () => {
    const path = own('usage', '*', 'example.com/v1/usages')
    const counts = async () => {
      const { object } = await admin.request(path, asTable)
      return (object as unknown as Table).rows.map(({ cells }) => cells.slice(0, 2))
    }
    assert.deepEqual(await counts(), [
      ['configmaps', 2],
      ['all-configmaps', 3],
      ['configmaps', 1],
    ])
    const watch = await admin.watch(`${path}?resourceVersion=0&fieldSelector=metadata.name%3Dall-configmaps`)
    await watch.until(events => events.length === 1)
    await admin.request('/clusters/one/api/v1/namespaces/default/configmaps/a', { method: 'DELETE' })
    const [, changed] = await watch.until(events => events.length === 2)
    assert.deepEqual([changed?.type, changed?.object.count], ['MODIFIED', 2])
    watch.close()
  })

  it('reviews names, and stores nothing', async () => {
    const path = own('namereview', 'two', 'example.com/v1/namereviews')
    const review = async (spec: object) => {
      const body = { apiVersion: 'example.com/v1', kind: 'NameReview', spec }
      return admin.request(path, { method: 'POST', body })
    }
    assert.deepEqual((await review({ name: 'new-name' })).object?.status, { allowed: true })
    assert.deepEqual((await review({ name: 'x' })).object?.status, {
      allowed: false,
      reason: 'the name must match ^[a-z]+-[a-z]+$',
    })
    const missing = await review({})
    assert.deepEqual(
      [missing.status, missing.object?.message?.includes('spec.name: Required value')],
      [422, true],
    )
    assert.equal((await admin.request(path)).status, 405)
  })

  it('answers plain HTTP behind the authorizer', async () => {
    const auditor = oriel.as({ name: 'ada', groups: ['auditors'] })
    const found = await auditor.request('/services/report/clusters/two/report')
    assert.deepEqual([found.status, found.text], [200, 'default/c\n'])
    const json = await auditor.request('/services/report/clusters/two/report.json?x=1')
    assert.deepEqual(json.object, { by: 'ada', names: ['default/c'] })
    for (const [user, path, status] of [
      [auditor, '/services/report/clusters/two/missing', 404],
      [auditor, '/services/report/clusters/*/report', 403],
      [oriel.as('bob'), '/services/report/clusters/two/report', 403],
    ] as const)
      assert.equal((await user.request(path)).status, status, path)
    assert.equal(
      (await auditor.request('/services/report/clusters/two/report', { method: 'POST' })).status,
      405,
    )
  })

  it('shows the rows of a table, and watches them', async () => {
    const path = own('books', 'one', 'library.example.com/v1/books')
    const watch = await admin.watch(path)
    await watch.until(events => events.length === 1)
    database.exec("BEGIN; UPDATE books SET stock = 1; INSERT INTO books VALUES ('2', 'Ulysses', 7); COMMIT")
    await watch.until(events => events.length === 3)
    database.exec("DELETE FROM books WHERE isbn = '1'")
    await watch.until(events => events.length === 4)
    assert.deepEqual(watch.lines(), ['ADDED 1', 'MODIFIED 1', 'ADDED 2', 'DELETED 1'])
    watch.close()
    const [found] = await admin.list(`${path}?fieldSelector=title%3DUlysses`)
    assert.equal(found?.stock, 7)
  })

  it('shows the objects of a REST service, and watches them', async () => {
    const watch = await admin.watch(own('stations', 'one', 'weather.example.com/v1/stations'))
    await watch.until(events => events.length === 1)
    stations = [{ id: 'oslo', celsius: 5 }]
    const [, changed] = await watch.until(events => events.length === 2)
    assert.deepEqual([changed?.type, changed?.object.celsius], ['MODIFIED', 5])
    watch.close()
  })
})
