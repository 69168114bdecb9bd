import assert from 'node:assert/strict'
import { fixture, widget } from '../../conformance/fixture.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { kcpDiffers, skip } from '../../support/notrun.ts'
import { discard, type Oriel } from '../../support/oriel.ts'
import { startServer } from '../../support/servers/kcp.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'
import { badRequests } from './badrequests/all.ts'
import type { BadRequest } from './badrequests/request.ts'

/** With KCP_BIN the table is tried on kcp, except where kcp's response is known to be worse. */
const isKcp = process.env.KCP_BIN !== undefined

describe('invalid requests', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let base: Client
  let client: Client
  before(async () => {
    oriel = await startServer()
    const [tenant] = (await createWorkspaces(oriel, ['team'])) as [Tenant]
    await apply(tenant.kubectl, fixture)
    await tenant.kubectl(['wait', '--for=condition=Established', 'crd', fixture.metadata.name ?? ''])
    base = await clientOf(configAt(oriel, oriel.url, 'shard-base'))
    client = await clientOf(configAt(oriel, `${oriel.url}/clusters/${tenant.path}`))
  })
  after(() => discard(oriel))

  async function answers({ path, sent, code, reason, message }: BadRequest): Promise<void> {
    const reply = await client(path, sent)
    assert.equal(reply.status, code, reply.text.slice(0, 500))
    const status = reply.json()
    assert.deepEqual([status.kind, status.code], ['Status', code])
    if (reason !== undefined) assert.equal(status.reason, reason)
    if (typeof message === 'string') assert.equal(status.message, message)
    else if (message !== undefined) assert.match(status.message ?? '', message)
  }

  for (const [area, table] of Object.entries(badRequests))
    describe(area, () => {
      for (const [name, request] of Object.entries(table))
        it(name, function () {
          if (isKcp && request.better !== undefined) skip(this, kcpDiffers)
          return answers(request)
        })
    })

  it('are those that need one logical cluster and name all clusters', async function () {
    if (isKcp) skip(this, kcpDiffers)
    const workspaces = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
    for (const prefix of ['/clusters/*', '/services/apiexport/root/tenancy.kcp.io/clusters/*'])
      for (const path of [`${prefix}/api/v1/namespaces/default/configmaps`, prefix + workspaces])
        for (const [method, url] of [
          ['GET', `${path}/a`],
          ['POST', path],
          ['PUT', `${path}/a`],
          ['PATCH', `${path}/a`],
          ['DELETE', `${path}/a`],
          ['DELETE', path],
        ] as const) {
          const reply = await base(url, { method, ...(method === 'POST' && { body: widget('a') }) })
          assert.equal(reply.status, 405, `${method} ${url}: ${reply.text}`)
          assert.match(reply.json().message ?? '', /in the `\*` logical cluster$/)
        }
  })

  it('are those to missing workspaces and views', async () => {
    for (const [path, code] of [
      ['/clusters/root:nothing/api/v1/configmaps', 404],
      ['/clusters/ROOT/api/v1/configmaps', 400],
      ['/clusters/root:/api/v1/configmaps', 400],
      ['/clusters/**/api/v1/configmaps', 400],
      ['/services/nothing/a/b/clusters/*/api', 404],
      ['/services/apiexport/root/tenancy.kcp.io/clusters', 404],
      ['/services/apiexport/root/tenancy.kcp.io/clusters/root:team/api', 404],
    ] as const)
      assert.equal((await base(path)).status, code, path)
  })
})
