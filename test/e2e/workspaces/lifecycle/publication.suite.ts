import assert from 'node:assert/strict'
import { clientOf } from '../../../support/client.ts'
import { eventually, kubectlFor } from '../../../support/oriel.ts'
import { configAt } from '../../../support/watcher.ts'
import type { Lifecycle, Type } from './scene.ts'

export const publication = (scene: Lifecycle): void => {
  it('are published in every type, with a condition', async () => {
    const { status } = await eventually(
      () => scene.provider.kubectl.json<Type>(['get', 'workspacetype', 'cleaned']),
      found => found.status?.conditions?.some(c => c.type === 'Ready' && c.status === 'True') === true,
    )
    const base = `${scene.oriel.viewsUrl}/services`
    assert.deepEqual(status?.virtualWorkspaces, [
      { url: `${base}/initializingworkspaces/${scene.provider.cluster}:cleaned`, type: 'initializing' },
      { url: `${base}/terminatingworkspaces/${scene.provider.cluster}:cleaned`, type: 'terminating' },
    ])
  })

  for (const view of ['initializingworkspaces', 'terminatingworkspaces']) {
    it(`serve only logical clusters across all clusters: ${view}`, async () => {
      const base = kubectlFor(scene.oriel, 'shard-base').at(scene.oriel.viewsUrl)
      const raw = async (path: string) =>
        JSON.parse(await base(['get', '--raw', `/services/${view}/root:whatever/clusters/*${path}`]))
      assert.deepEqual((await raw('/apis/core.kcp.io/v1alpha1')).resources, [
        {
          name: 'logicalclusters',
          singularName: 'logicalcluster',
          namespaced: false,
          kind: 'LogicalCluster',
          verbs: ['get', 'list', 'watch'],
          categories: ['kcp'],
          storageVersionHash: 'l84hS/aun10=',
        },
        {
          name: 'logicalclusters/status',
          singularName: '',
          namespaced: false,
          kind: 'LogicalCluster',
          verbs: null,
        },
      ])
      assert.deepEqual(
        (await raw('/apis')).groups.map((g: { name: string }) => g.name),
        ['core.kcp.io'],
      )
      const client = await clientOf(configAt(scene.oriel, scene.oriel.viewsUrl, 'shard-base'))
      const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'
      const path = `/services/${view}/root:whatever/clusters/*/apis`
      const { kind } = (await client(path, { headers: { accept } })).json()
      assert.equal(kind, 'APIGroupList', 'clients of kcp see no aggregated discovery here')
      client.close()
    })
  }
}
