import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { kubectlFor } from '../../support/oriel.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { condition, type Mounts, workspace } from './scene.ts'

export const toKubernetes = (scene: Mounts): void => {
  describe('as the documentation has it', () => {
    it('reports its URL', async () => {
      const found = await workspace(scene, 'remote-workspace')
      assert.equal(found.spec.URL, scene.service.url)
      assert.equal(condition(found)?.status, 'True')
    })
    it('is another cluster to kubectl', async () => {
      const there = scene.root.at('/clusters/root:remote-workspace')
      const text = await there(['get', 'namespaces', '-o', 'name'])
      assert.match(text, /namespace\/default/)
      await there(['create', 'configmap', 'from-afar', '--from-literal=a=b'])
      assert.equal(await there(['get', 'configmap', 'from-afar', '-o', 'jsonpath={.data.a}']), 'b')
      const { code } = await scene.root.try(['get', 'configmap', 'from-afar'])
      assert.equal(code, 1, 'it is not here')
    })
    it('returns the pods of the other cluster to kubectl', async () => {
      const kubeconfig = join(await temporaryDirectory('peer'), 'peer.kubeconfig')
      await writeFile(kubeconfig, scene.peer.kubeconfig)
      const direct = kubectlFor({ ...scene.oriel, kubeconfig }, 'peer')
      const there = scene.root.at('/clusters/root:remote-workspace')
      for (const args of [
        ['get', 'pods'],
        ['api-resources', '-o', 'name'],
        ['get', 'namespaces', '-A', '-o', 'name'],
      ])
        assert.deepEqual(await there.try(args), await direct.try(args), args.join(' '))
    })
    it('forwards watches', async () => {
      const watch = await scene.client.watch(
        '/clusters/root:remote-workspace/api/v1/namespaces/default/configmaps?watch=true',
      )
      const there = scene.root.at('/clusters/root:remote-workspace')
      await there(['create', 'configmap', 'watched'])
      for (;;) {
        const event = await watch.next()
        if (event?.object.metadata.name === 'watched') break
        assert.ok(event, 'the watch ended')
      }
      watch.leave()
    })
    it('does not send the user to the target', () => {
      const { authorization, 'x-remote-user': user } = scene.service.seen()
      assert.deepEqual([authorization, user], [undefined, undefined])
    })
    it('is listed among its siblings as a mount', async () => {
      const lines = await scene.root(['get', 'workspaces', '--no-headers'])
      assert.match(lines, /^remote-workspace +Ready +https:\/\/127\.0\.0\.1:\d+/m)
    })
  })
}
