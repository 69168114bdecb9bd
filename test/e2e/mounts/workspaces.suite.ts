import assert from 'node:assert/strict'
import { clientOf } from '../../support/client.ts'
import { eventually } from '../../support/oriel.ts'
import { createWorkspaces } from '../../support/tenants.ts'
import { userAt } from '../../support/watcher.ts'
import { condition, type Mounts, mounted, remote, settled, workspace } from './scene.ts'

export const toWorkspaces = (scene: Mounts): void => {
  describe('of other workspaces', () => {
    before(async () => {
      await createWorkspaces(scene.oriel, ['target'])
      await scene.root.at('/clusters/root:target')(
        ['apply', '-f', '-'],
        '{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"Workspace","metadata":{"name":"child"}}',
      )
      const url = (await workspace(scene, 'target')).spec.URL ?? ''
      await scene.root(['apply', '-f', '-'], remote(url, 'Ready', 'to-target'))
      for (const [name, type] of [
        ['plainly', undefined],
        ['link', 'Workspace'],
        ['moved', 'Redirect'],
      ] as const) {
        await scene.root(['apply', '-f', '-'], mounted(name, 'to-target', type))
        await settled(scene, name, 'Ready')
      }
      await eventually(
        () => scene.client('/clusters/root:target:child/api'),
        ({ status }) => status === 200,
      )
    })

    for (const name of ['plainly', 'link'])
      it(`is the workspace itself (${name})`, async () => {
        const through = scene.root.at(`/clusters/root:${name}`)
        await through(['create', 'configmap', name, '--from-literal=a=b'])
        const there = scene.root.at('/clusters/root:target')
        assert.equal(await there(['get', 'configmap', name, '-o', 'jsonpath={.data.a}']), 'b')
        await through(['delete', 'configmap', name])
        assert.equal((await there.try(['get', 'configmap', name])).code, 1)
        assert.equal((await scene.client(`/clusters/root:${name}:child/api`)).status, 200)
        assert.equal((await scene.client(`/clusters/root:${name}:unknown/api`)).status, 404)
      })
    it('redirects clients', async () => {
      const reply = await scene.client('/clusters/root:moved:child/api/v1/namespaces?limit=1')
      assert.equal(reply.status, 307)
      const { origin } = new URL((await workspace(scene, 'target')).spec.URL ?? '')
      assert.equal(reply.headers.location, `${origin}/clusters/root:target:child/api/v1/namespaces?limit=1`)
      assert.match(
        await scene.root.at('/clusters/root:moved')(['get', 'namespaces', '-o', 'name']),
        /default/,
      )
    })
    it('gives users no more permissions than the target does', async () => {
      const stranger = await clientOf(userAt(scene.oriel, scene.oriel.url, 'stranger-token'))
      const path = '/api/v1/namespaces/default/configmaps'
      const [direct, through] = [
        await stranger(`/clusters/root:target${path}`),
        await stranger(`/clusters/root:link${path}`),
      ]
      assert.deepEqual([through.status, through.text], [direct.status, direct.text])
      stranger.close()
    })
    it('detects cycles', async () => {
      const base = (await workspace(scene, 'target')).spec.URL?.replace(/:target$/, '') ?? ''
      for (const [name, other] of [
        ['one', 'two'],
        ['two', 'one'],
      ] as const) {
        await scene.root(['apply', '-f', '-'], remote(`${base}:${other}`, 'Ready', name))
        await scene.root(['apply', '-f', '-'], mounted(name, name, 'Workspace'))
      }
      for (const name of ['one', 'two']) {
        const found = await eventually(
          () => workspace(scene, name),
          each => condition(each)?.reason === 'MountLoop',
        )
        assert.equal(found.status.phase, 'Unavailable')
        assert.match(condition(found)?.message ?? '', /is part of a loop of mounts$/)
        assert.equal((await scene.client(`/clusters/root:${name}/api`)).status, 503)
      }
      const target = (await workspace(scene, 'target')).spec.URL ?? ''
      await scene.root(['apply', '-f', '-'], remote(target, 'Ready', 'two'))
      await Promise.all([settled(scene, 'one', 'Ready'), settled(scene, 'two', 'Ready')])
      assert.equal((await scene.client('/clusters/root:one/api')).status, 200)
    })
    it('reports a workspace that mounts itself', async () => {
      const itself = mounted('itself', 'itself').replace('example.io/v1alpha1', 'tenancy.kcp.io/v1alpha1')
      await scene.root(['apply', '-f', '-'], itself.replace('RemoteCluster', 'Workspace'))
      const found = await settled(scene, 'itself', 'Unavailable')
      assert.deepEqual(
        [condition(found)?.reason, condition(found)?.message],
        ['MountLoop', 'Workspace "itself" is part of a loop of mounts'],
      )
    })
    it('reports a link out of the tree', async () => {
      await scene.root(['apply', '-f', '-'], remote(scene.service.url, 'Ready', 'outside'))
      await scene.root(['apply', '-f', '-'], mounted('outside', 'outside', 'Workspace'))
      const found = await settled(scene, 'outside', 'Unavailable')
      assert.equal(condition(found)?.reason, 'MountURLInvalid')
      assert.match(
        condition(found)?.message ?? '',
        /^The URL of RemoteCluster "outside" is not that of a workspace here, as spec.mount.type "Workspace" requires: it must begin with https:.*\/clusters\/$/,
      )
    })
    it('reports a missing target, and follows the phase of an existing one', async () => {
      const base = (await workspace(scene, 'target')).spec.URL?.replace(/:target$/, '') ?? ''
      await scene.root(['apply', '-f', '-'], remote(`${base}:later`, 'Ready', 'early'))
      await scene.root(['apply', '-f', '-'], mounted('early', 'early', 'Workspace'))
      const found = await settled(scene, 'early', 'Unavailable')
      assert.deepEqual(
        [condition(found)?.reason, condition(found)?.message],
        ['MountTargetNotFound', `there is no workspace at ${base}:later`],
      )
      await createWorkspaces(scene.oriel, ['later'])
      await settled(scene, 'early', 'Ready')
      await scene.root(['delete', 'workspace', 'later'])
      await settled(scene, 'early', 'Unavailable')
    })
  })
}
