import assert from 'node:assert/strict'
import type { Condition } from '../../../kcp/conditions.ts'
import type { WorkspaceType } from '../../../kcp/tenancy.ts'
import { admitting } from '../../admission/kcp/testing/admitting.ts'
import { until } from '../../testing/shard.ts'

const key = { cluster: 'root', namespace: '', name: 'cleaned' }
const initializing = { url: 'https://one/initializing', type: 'initializing' }
const terminating = { url: 'https://one/terminating', type: 'terminating' }

describe('the condition VirtualWorkspaceURLsReady of workspace types', () => {
  const scene = admitting()
  const publish = (virtualWorkspaces: readonly object[]) =>
    scene.shard.client.update({ ...scene.tenancy.workspaceTypes, subresource: 'status' }, key, current => ({
      ...current,
      status: { ...(current as WorkspaceType).status, virtualWorkspaces },
    }))
  const conditions = (): readonly Condition[] => {
    const found = scene.shard.informers.for(scene.tenancy.workspaceTypes).get('root', '', 'cleaned')
    return (found?.object as WorkspaceType | undefined)?.status?.conditions ?? []
  }
  const settled = () => Promise.all(scene.shard.controllers.map(controller => controller.idle()))

  it('is set when the URLs of both views are published', async () => {
    void scene.shard.run()
    await scene.shard.client.create(scene.tenancy.workspaceTypes, key, {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'WorkspaceType',
      metadata: { name: 'cleaned' },
      spec: { terminator: true },
    })
    for (const only of [initializing, terminating]) {
      await publish([only])
      await settled()
      assert.deepEqual(conditions(), [])
    }
    await publish([initializing, terminating])
    const types = await until(() => (conditions().length === 2 ? conditions() : undefined))
    assert.deepEqual(
      types.map(({ type, status }) => [type, status]),
      [
        ['Ready', 'True'],
        ['VirtualWorkspaceURLsReady', 'True'],
      ],
    )
  })
})
