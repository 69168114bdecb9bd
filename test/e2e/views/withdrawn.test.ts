import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { authorizationParts } from '../../../cmd/authorization/authorization.ts'
import { clustersView } from '../../../cmd/views/clustersview.ts'
import { bearerTokens, sha256, tokenUsers } from '../../../framework/authn/index.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import { silent } from '../../../framework/contract/log.ts'
import { versionInfo } from '../../../framework/contract/version.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { createMetrics } from '../../../framework/metrics/metrics.ts'
import { createServer, type Server } from '../../../framework/server/server.ts'
import { createOpenApiDocuments } from '../../../openapi/index.ts'
import { bootstrap } from '../../../shard/bootstrap/bootstrap.ts'
import { openMemoryStore } from '../../../shard/store/memory.ts'
import { bindIn, resourceSchema, storageVersion } from '../../../shard/testing/bindings.ts'
import { type TestShard, testShard } from '../../../shard/testing/shard.ts'

const url = 'https://localhost:6443'
const addresses = { name: 'root', baseURL: url, externalURL: url, virtualWorkspaceURL: url }
const rbac = (resource: string): ResourceRef => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource,
})
const clusterScoped = (group: string, resource: string): ResourceRef => ({
  group,
  version: group === 'apis.kcp.io' ? 'v1alpha2' : 'v1alpha1',
  resource,
})
const logicalClusters = clusterScoped('core.kcp.io', 'logicalclusters')
const at = (cluster: string, name: string) => ({ cluster, namespace: '', name })
const bindingOf = (role: string, user: string): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: `${user}-${role}`.replaceAll(':', '-') },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'User', name: user }],
})

/** Headers without impersonation. */
const plainHeaders = {}

/** The server caches decisions. These requests are equal to the byte, on one connection. */
describe('permissions that are revoked', () => {
  let shard: TestShard
  let server: Server
  let agent: Agent

  beforeEach(async () => {
    const store = openMemoryStore()
    await bootstrap({ store, shard: addresses })
    shard = await testShard({ store, authorizer: authorizationParts().authorizer })
    const users = ['alice', 'bob'].map(name => ({ sha256: sha256(name), user: { name, groups: [] } }))
    const about = versionInfo({ version: '0.1.0', commit: '', date: '' })
    server = await createServer({
      host: '127.0.0.1',
      port: 0,
      workspaces: [clustersView(shard)],
      backend: shard.backend,
      informers: shard.informers,
      log: silent,
      metrics: createMetrics(),
      checks: [],
      version: about,
      authenticator: bearerTokens(tokenUsers(users)),
      documents: createOpenApiDocuments(about),
      watchReviewInterval: 20,
    })
    agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (const cluster of ['one', 'two']) await found(cluster)
  })
  afterEach(async () => {
    agent.destroy()
    await server.close(0)
    await shard.stop()
  })

  async function found(cluster: string): Promise<void> {
    await shard.addCluster(cluster)
    const status = { ...logicalClusters, subresource: 'status' }
    await shard.client.update(status, at(cluster, 'cluster'), current => ({
      ...current,
      status: { phase: 'Ready' },
    }))
    for (const role of ['system:kcp:workspace:access', 'edit']) await put(cluster, bindingOf(role, 'alice'))
  }
  const put = (cluster: string, object: KubeObject): Promise<KubeObject> =>
    shard.client.create(rbac('clusterrolebindings'), at(cluster, object.metadata.name ?? ''), object)
  const remove = (ref: ResourceRef, cluster: string, name: string): Promise<unknown> =>
    shard.client.delete(ref, at(cluster, name))

  async function get(path: string, headers: Record<string, string> = {}, token = 'alice'): Promise<number> {
    const sent = request({
      port: server.port,
      path,
      agent,
      headers: { authorization: `Bearer ${token}`, ...headers },
    }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    await text(answer)
    return answer.statusCode ?? 0
  }
  const configMaps = '/clusters/one/api/v1/namespaces/default/configmaps'
  const twice = async (path: string, ...more: [Record<string, string>?, string?]): Promise<number> => {
    const first = await get(path, ...more)
    assert.equal(await get(path, ...more), first)
    return first
  }

  it('with a role are refused at the next request', async () => {
    assert.equal(await twice(configMaps), 200)
    await remove(rbac('clusterrolebindings'), 'one', 'alice-edit')
    assert.equal(await twice(configMaps), 403)
    await put('one', bindingOf('edit', 'alice'))
    assert.equal(await twice(configMaps), 200)
    await remove(rbac('clusterrolebindings'), 'one', 'alice-system-kcp-workspace-access')
    assert.equal(await twice(configMaps), 403)
  })

  it('with a workspace are refused at the next request', async () => {
    assert.equal(await twice(configMaps), 200)
    await remove(logicalClusters, 'one', 'cluster')
    assert.equal(await twice(configMaps), 403)
  })

  it('with a binding of an export are refused at the next request', async () => {
    await put('one', bindingOf('cluster-admin', 'alice'))
    const schemas = { ...clusterScoped('apis.kcp.io', 'apiresourceschemas'), version: 'v1alpha1' }
    const name = 'v1.widgets.example.com'
    const schema = resourceSchema(name, [storageVersion('v1')])
    await bindIn(shard, 'one', await shard.client.create(schemas, at('two', name), schema))
    const widgets = '/clusters/one/apis/example.com/v1/widgets'
    assert.equal(await twice(widgets), 200)
    await remove(clusterScoped('apis.kcp.io', 'apibindings'), 'one', 'widgets')
    assert.equal(await twice(widgets), 404)
  })

  /** A watch on a connection of its own. */
  async function watch(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
    const sent = request({
      port: server.port,
      path: `${path}?watch=true`,
      headers: { authorization: 'Bearer alice', ...headers },
    }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    assert.equal(answer.statusCode, 200)
    return answer
  }

  for (const [what, role, headers] of [
    ['a role', 'alice-edit', plainHeaders],
    ['access to the workspace', 'alice-system-kcp-workspace-access', plainHeaders],
    ['a role of an impersonated user', 'bob-edit', { 'impersonate-user': 'bob' }],
    ['the permission to impersonate', 'alice-cluster-admin', { 'impersonate-user': 'bob' }],
  ] as const)
    it(`with ${what} end open watches, and no others`, async () => {
      await put('one', bindingOf('cluster-admin', 'alice'))
      for (const name of ['edit', 'system:kcp:workspace:access']) await put('one', bindingOf(name, 'bob'))
      if (headers === plainHeaders) await remove(rbac('clusterrolebindings'), 'one', 'alice-cluster-admin')
      const stays = await watch(configMaps.replace('one', 'two'))
      const ends = text(await watch(configMaps, headers))
      await remove(rbac('clusterrolebindings'), 'one', role)
      assert.equal(await ends, '')
      assert.equal(stays.readableEnded, false)
      stays.destroy()
    })

  it('are cached per user, workspace and verb on one connection', async () => {
    await put('one', bindingOf('system:kcp:workspace:access', 'bob'))
    for (let time = 0; time < 3; time++) {
      assert.equal(await get(configMaps), 200)
      assert.equal(await get(configMaps, {}, 'bob'), 403)
      assert.equal(await get(configMaps.replace('one', 'two')), 200)
      assert.equal(await get(configMaps.replace('one', 'two'), {}, 'bob'), 403)
      assert.equal(await get(configMaps.replace('one', 'three')), 403)
      assert.equal(await get(configMaps, {}, 'mallory'), 401)
      assert.equal(await get(configMaps, { authorization: '' }), 401)
    }
  })

  it('cannot be kept by impersonation', async () => {
    await put('one', bindingOf('cluster-admin', 'alice'))
    const asBob = { 'impersonate-user': 'bob' }
    assert.equal(await twice(configMaps), 200)
    assert.equal(await twice(configMaps, asBob), 403)
    const scoped = {
      'impersonate-user': 'alice',
      'impersonate-extra-authentication.kcp.io%2fscopes': 'cluster:two',
    }
    assert.equal(await twice(configMaps, scoped), 403)
    assert.equal(await twice(configMaps), 200)
  })
})
