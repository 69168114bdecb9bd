import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '../../support/client.ts'
import { discard, eventually, type Kubectl, kubectlFor, type Oriel, startOriel } from '../../support/oriel.ts'
import { type FrontProxy, startFrontProxy, writeProxyAuthority } from '../../support/servers/frontproxy.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'

const shard = (baseURL: string) => ({
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'Shard',
  metadata: { name: 'beta', annotations: { 'experimental.core.kcp.io/unschedulable': 'true' } },
  spec: { baseURL, externalURL: baseURL, virtualWorkspaceURL: baseURL },
})

const links = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'links.example.io' },
  spec: {
    group: 'example.io',
    names: { plural: 'links', singular: 'link', kind: 'Link' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

const link = (name: string, URL: string) => ({
  apiVersion: 'example.io/v1',
  kind: 'Link',
  metadata: { name },
  status: { phase: 'Ready', URL },
})

const mounted = (name: string, type: string) => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: { mount: { type, ref: { apiVersion: 'example.io/v1', kind: 'Link', name } } },
})

const namespaces = '/api/v1/namespaces'

describe('two front proxies before two shards', function () {
  this.timeout(180_000)
  let folder: string
  let shards: readonly Oriel[]
  let proxies: readonly FrontProxy[]
  let clients: readonly Client[]
  let alpha: Tenant
  let beta: Tenant
  let root: Kubectl

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-proxies-'))
    const args = [...(await writeProxyAuthority(folder)), '--mount-allow', '10.0.0.1']
    shards = await Promise.all([startOriel({ args }), startOriel({ args })])
    const [first, second] = shards
    assert.ok(first && second)
    root = kubectlFor(first, 'root')
    await apply(kubectlFor(first, 'shard-base').at('/clusters/root'), shard(second.url))
    const made = await Promise.all([createWorkspaces(first, ['alpha']), createWorkspaces(second, ['beta'])])
    alpha = made[0][0] as Tenant
    beta = made[1][0] as Tenant
    proxies = await Promise.all(
      [
        { folder, name: 'one', shards },
        // Another address than the one in the Shard objects, by which workspaces mount each other.
        { folder, name: 'two', shards, args: ['--external-url', 'https://two.example'] },
      ].map(startFrontProxy),
    )
    clients = await Promise.all(proxies.map(proxy => proxy.client('admin-token')))
  })
  after(async () => {
    for (const client of clients) client.close()
    await Promise.all(proxies.map(proxy => proxy.stop()))
    await Promise.all(shards.map(discard))
    await rm(folder, { recursive: true })
  })

  const each = async (check: (client: Client) => Promise<unknown>): Promise<void> => {
    for (const client of clients) await check(client)
  }
  const statusAt = (path: string) => async (client: Client) => (await client(path)).status

  it('is ready when all shards are known', () =>
    each(async client =>
      assert.equal(
        (
          await eventually(
            () => client('/readyz'),
            r => r.status === 200,
          )
        ).text,
        'ok',
      ),
    ))

  it('reach workspaces of either shard', () =>
    each(async client => {
      for (const path of ['root:alpha', alpha.cluster, beta.cluster]) {
        const reply = await eventually(
          () => client(`/clusters/${path}${namespaces}`),
          r => r.status === 200,
        )
        const { cluster } = path === beta.cluster ? beta : alpha
        assert.equal(reply.json().items?.[0]?.metadata.annotations?.['kcp.io/cluster'], cluster)
      }
    }))

  it('serve new workspaces, and refuse deleted ones, at once', async () => {
    const [first] = shards
    assert.ok(first)
    await createWorkspaces(first, ['brief'])
    await each(client =>
      eventually(
        () => statusAt('/clusters/root:brief/api')(client),
        code => code === 200,
      ),
    )
    await root(['delete', 'workspace', 'brief'])
    await each(client =>
      eventually(
        () => statusAt('/clusters/root:brief/api')(client),
        code => code === 403,
      ),
    )
  })

  it('refuse unknown workspaces like those without permission', () =>
    each(async client => {
      for (const path of [
        'root:unknown',
        'unknown',
        'root:alpha:unknown',
        'A',
        '*',
        'root::a',
        'root%2Falpha',
      ]) {
        const reply = await client(`/clusters/${path}${namespaces}`)
        assert.equal(reply.status, 403, path)
        assert.match(reply.json().message ?? '', /workspace access not permitted$/)
      }
    }))

  it('refuse unknown users, and send the user to shards', async () => {
    const [proxy] = proxies
    assert.ok(proxy)
    const [nobody, stranger, none] = await Promise.all(
      ['nobody-token', 'wrong', undefined].map(t => proxy.client(t)),
    )
    assert.ok(nobody && stranger && none)
    const path = '/clusters/root:alpha/api/v1/namespaces'
    assert.equal((await stranger(path)).status, 401)
    assert.equal((await none(path)).status, 401)
    const forged = { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:kcp:admin', 'X-Remote-Uid': '0' }
    for (const headers of [{}, forged, { ...forged, connection: 'X-Remote-User, X-Remote-Group' }]) {
      const reply = await nobody(path, { headers })
      assert.equal(reply.status, 403)
      assert.match(reply.json().message ?? '', /User "nobody" cannot list resource "namespaces"/)
    }
    for (const client of [nobody, stranger, none]) client.close()
  })

  it('forward watches', () =>
    each(async client => {
      const path = '/clusters/root:alpha/api/v1/namespaces/default/configmaps'
      const watch = await client.watch(`${path}?watch=true`)
      const name = `seen-${clients.indexOf(client)}`
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }
      assert.equal(
        (await client(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body }))
          .status,
        201,
      )
      for (;;) {
        const event = await watch.next()
        assert.ok(event)
        if (event.object.metadata.name === name) break
      }
      watch.leave()
    }))

  it('follow links between shards for users with access', async () => {
    const [first] = shards
    assert.ok(first)
    await apply(root, links)
    await root(['wait', '--for=condition=Established', 'crd/links.example.io'])
    const url = `${first.url.replace('127.0.0.1', 'localhost')}/clusters/${beta.cluster}`
    for (const [name, type] of [
      ['there', 'Workspace'],
      ['moved', 'Redirect'],
    ] as const)
      await apply(root, link(name, url), mounted(name, type))
    await each(async client => {
      const reply = await eventually(
        () => client(`/clusters/root:there${namespaces}`),
        r => r.status === 200,
      )
      assert.equal(reply.json().items?.[0]?.metadata.annotations?.['kcp.io/cluster'], beta.cluster)
      const moved = await eventually(
        () => client(`/clusters/root:moved${namespaces}`),
        r => r.status === 307,
      )
      assert.equal(moved.headers.location, `${url}${namespaces}`)
    })
  })

  it('name the flag of their own that refuses a mount', async () => {
    await apply(root, link('private', 'https://10.0.0.1'), mounted('private', 'URL'))
    await root(['wait', '--for=condition=WorkspaceMountReady', 'workspace/private'])
    await each(async client => {
      const { text } = await eventually(
        () => client('/clusters/root:private/api'),
        ({ status }) => status === 503,
      )
      assert.match(
        text,
        /refused: its host 10.0.0.1 has no public address: --mount-allow 10.0.0.1 of oriel front-proxy allows it/,
      )
    })
  })

  it('forward requests for views, and no other paths', () =>
    each(async client => {
      const view = await client(
        `/services/mounts/clusters/${alpha.cluster}/apis/mounts.contrib.kcp.io/v1alpha1`,
      )
      assert.equal(view.status, 200)
      const other = await client('/elsewhere')
      assert.deepEqual([other.status, other.text], [404, '404 page not found\n'])
    }))

  it('serve metrics to users with permission', async () => {
    const [proxy] = proxies
    assert.ok(proxy)
    const [nobody, none] = await Promise.all([proxy.client('nobody-token'), proxy.client()])
    assert.deepEqual([(await nobody('/metrics')).status, (await none('/metrics')).status], [403, 401])
    await root([
      ...['create', 'clusterrolebinding', 'metrics', '--clusterrole=system:kcp:metrics-reader'],
      '--user=nobody',
    ])
    const { text } = await eventually(
      () => nobody('/metrics'),
      r => r.status === 200,
    )
    for (const line of [
      /^kcp_indexed_logicalclusters\{shard="beta"\} [1-9]/m,
      /^proxy_request_duration_seconds_count\{method="GET",code="200"\} [1-9]/m,
      /^kcp_backend_rs_body_bytes\{shard="root"\} [1-9]/m,
      /^mount_proxy_requests_total\{type="Redirect"\} [1-9]/m,
    ])
      assert.match(text, line)
    nobody.close()
    none.close()
  })

  it('remove a deleted shard, and serve it again when it is back', async () => {
    const [first, second] = shards
    assert.ok(first && second)
    const system = kubectlFor(first, 'shard-base').at('/clusters/root')
    await system(['delete', 'shard', 'beta'])
    await each(client =>
      eventually(
        () => statusAt(`/clusters/${beta.cluster}/api`)(client),
        code => code === 403,
      ),
    )
    await apply(system, shard(second.url))
    await each(client =>
      eventually(
        () => statusAt(`/clusters/${beta.cluster}/api`)(client),
        code => code === 200,
      ),
    )
  })

  it('return 502 for a shard that does not respond', async () => {
    const [, second] = shards
    await second?.kill()
    await each(async client => {
      const reply = await client(`/clusters/${beta.cluster}/api`)
      assert.equal(reply.status, 502)
      assert.match(reply.json().message ?? '', /^error trying to reach the server behind this endpoint/)
    })
  })
})
