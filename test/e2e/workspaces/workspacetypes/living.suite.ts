import assert from 'node:assert/strict'
import type { KubeObject } from '../../../../framework/index.ts'
import { eventually } from '../../../support/oriel.ts'
import { configAt, watch } from '../../../support/watcher.ts'
import {
  define,
  get,
  gone,
  here,
  isReady,
  judged,
  make,
  org,
  post,
  remove,
  type Types,
  tenancy,
  universal,
  type Workspace,
  waitsFor,
  workspace,
} from './scene.ts'

const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

const secretExport: KubeObject = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name: 'secret' },
  spec: {},
}

const secretBinding: KubeObject = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: 'secret' },
  spec: { reference: { export: { path: 'root:private', name: 'secret' } } },
}

export const howTheyLive = (scene: Types): void => {
  it('stay when their type is deleted, and can be deleted', async () => {
    await define(scene, 'steady', { extend: universal })
    await define(scene, 'passing', { extend: universal, initializer: true })
    for (const name of ['steady', 'passing'])
      assert.equal((await make(scene, workspace(name, here(name)))).status, 201)
    await get(scene, 'steady', isReady)
    const { spec } = await get(scene, 'passing', waitsFor(scene, 'passing'))
    for (const name of ['steady', 'passing']) await remove(scene, `${org}/workspacetypes/${name}`)

    const again = await make(scene, workspace('again', here('steady')))
    assert.equal(again.status, 403)
    assert.ok(isReady(await get(scene, 'steady', () => true)))
    const view = `/services/initializingworkspaces/${scene.tenant.cluster}:passing/clusters/${spec.cluster}`
    const content = await eventually(
      () => scene.master(`${view}/api/v1/namespaces`),
      ({ status }) => status === 503,
    )
    assert.match(content.text, /WorkspaceType not found.*refusing to fall back to owner impersonation/)
    for (const name of ['steady', 'passing']) {
      await remove(scene, `${org}/workspaces/${name}`)
      await gone(scene, name)
    }
  })

  it('give their initializers no permissions that the creator has as an administrator of kcp', async () => {
    await define(scene, 'curious', { extend: universal, initializer: true })
    await make(scene, workspace('watched', here('curious')))
    const { spec } = await get(scene, 'watched', waitsFor(scene, 'curious'))
    const exports = `/clusters/${spec.cluster}/apis/apis.kcp.io/v1alpha2/apiexports`
    await make(scene, workspace('private'), `/clusters/root${tenancy}`, scene.master)
    await get(scene, 'private', isReady, `/clusters/root${tenancy}`)
    const exported = await post(
      scene.master,
      exports.replace(`${spec.cluster}`, 'root:private'),
      secretExport,
    )
    assert.equal(exported.status, 201, exported.text)

    const content = `/services/initializingworkspaces/${scene.tenant.cluster}:curious/clusters/${spec.cluster}`
    const made = await post(scene.master, `${content}/api/v1/namespaces`, namespace('made'))
    assert.equal(made.status, 201, made.text)
    const bound = await post(scene.master, `${content}/apis/apis.kcp.io/v1alpha2/apibindings`, secretBinding)
    assert.equal(bound.status, judged ? 201 : 403, bound.text)
    await remove(scene, `${org}/workspaces/watched`)
    await gone(scene, 'watched')
  })

  it('can be deleted while they are initialized', async () => {
    await define(scene, 'slow', { extend: universal, initializer: true })
    await make(scene, workspace('half', here('slow')))
    const { spec } = await get(scene, 'half', waitsFor(scene, 'slow'))
    await remove(scene, `${org}/workspaces/half`)
    await gone(scene, 'half')
    const { status } = await scene.admin(`/clusters/${spec.cluster}/api/v1/namespaces`)
    assert.equal(status, 403)
    const view = `/services/initializingworkspaces/${scene.tenant.cluster}:slow/clusters/*`
    const seen = await scene.master(`${view}/apis/core.kcp.io/v1alpha1/logicalclusters`)
    assert.deepEqual(seen.json().items, [])
  })

  it('are created once by two concurrent requests', async () => {
    const replies = await Promise.all(
      [1, 2].map(() => make(scene, workspace('twin', { path: 'root', name: 'universal' }))),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409])
    const lost = replies.find(({ status }) => status === 409)?.json()
    assert.equal(lost?.message, 'workspaces.tenancy.kcp.io "twin" already exists')
    await get(scene, 'twin', isReady)
    const all = (await scene.master('/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters')).json()
    const twins = all.items?.filter(
      ({ metadata }) => metadata.annotations?.['kcp.io/path'] === 'root:org:twin',
    )
    assert.equal(twins?.length, 1)
  })

  it('do not include the system’s logical clusters', async () => {
    for (const cluster of ['system:admin', 'system:shard', 'system:nothing'])
      for (const [who, status] of [
        [scene.alice, 403],
        [scene.nobody, 401],
      ] as const) {
        const reply = await who(`/clusters/${cluster}/api/v1/namespaces`)
        if (who === scene.nobody) assert.ok([401, 403].includes(reply.status), reply.text)
        else assert.equal(reply.status, status, reply.text)
      }
    assert.equal((await scene.alice('/clusters/root:system:admin/api/v1/namespaces')).status, 404)
    assert.equal((await scene.master('/clusters/system:admin/api/v1/namespaces')).status, 200)
  })

  it('have paths whose segments are neither empty nor too long', async () => {
    const long = 'a'.repeat(64)
    for (const path of ['root::org', 'root:', ':root', `root:${long}`, long, `root:org:${long}`]) {
      const reply = await scene.admin(`/clusters/${path}/api/v1/namespaces`)
      assert.equal(reply.status, 400, `${path}: ${reply.text}`)
      assert.match(reply.text, new RegExp(`invalid cluster: .*${path}.* does not match the regex`))
    }
    const { status, text } = await scene.admin(`/clusters/root:${long.slice(1)}/api/v1/namespaces`)
    assert.equal(status, 404, text)
    for (const name of [long, '', '-a', 'A'])
      assert.ok([404, 405, 422].includes((await make(scene, workspace(name))).status), name)
  })

  it('pass through the phases in order, and report them', async () => {
    await define(scene, 'watched', { extend: universal, initializer: true })
    const watcher = await watch(
      configAt(scene.oriel, `${scene.oriel.url}/clusters/root:org`),
      `${tenancy}/workspaces`,
    )
    await make(scene, workspace('phases', here('watched')))
    const { spec } = await get(scene, 'phases', waitsFor(scene, 'watched'))
    const leave = {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { status: { initializers: [] } },
    }
    const view = `/services/initializingworkspaces/${scene.tenant.cluster}:watched/clusters/${spec.cluster}`
    const left = await scene.master(`${view}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster/status`, leave)
    assert.equal(left.status, 200, left.text)
    const { status } = await get(scene, 'phases', isReady)
    for (const type of ['WorkspaceInitialized', 'WorkspaceScheduled'])
      assert.equal(status.conditions?.find(condition => condition.type === type)?.status, 'True', type)
    await watcher.next(
      ({ object }) => object.metadata?.name === 'phases' && isReady(object as unknown as Workspace),
    )
    watcher.stop()
    const phases = watcher.seen
      .filter(({ object }) => object.metadata?.name === 'phases')
      .map(({ object }) => (object as unknown as Workspace).status.phase)
    assert.deepEqual([...new Set(phases)], ['Scheduling', 'Initializing', 'Ready'])
  })

  it('report why they are not scheduled', async () => {
    const location = { selector: { matchLabels: { tier: 'gold' } } }
    await make(scene, workspace('nowhere', { path: 'root', name: 'universal' }, { location }))
    const { status } = await get(scene, 'nowhere', w => w.status?.conditions !== undefined)
    const told = status.conditions?.find(({ type }) => type === 'WorkspaceScheduled')
    assert.equal(told?.message, 'No available shards to schedule the workspace')
    await get(scene, 'nowhere', w => w.status.phase === 'Unavailable')
    const reply = await scene.admin('/clusters/root:org:nowhere/api/v1/namespaces')
    assert.equal(reply.status, 404, reply.text)
    await remove(scene, `${org}/workspaces/nowhere`)
    await gone(scene, 'nowhere')
  })
}
