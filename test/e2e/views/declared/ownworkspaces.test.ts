import assert from 'node:assert/strict'
import { discard } from '../../../support/oriel.ts'
import { apply, rolesFor } from '../../../support/tenants.ts'
import { userAt, watch } from '../../../support/watcher.ts'
import { ViewScene } from './scene.ts'

const path = '/apis/tenancy.kcp.io/v1alpha1/workspaces'

describe('a View of workspaces', function () {
  this.timeout(120_000)
  let scene: ViewScene
  let url = ''
  before(async () => {
    scene = await ViewScene.start()
    const content = {
      apiGroups: ['views.oriel.dev'],
      resources: ['views/content'],
      verbs: ['get', 'list', 'watch'],
    }
    await apply(scene.admin, ...rolesFor('ada', content), {
      apiVersion: 'views.oriel.dev/v1alpha1',
      kind: 'View',
      metadata: { name: 'teams' },
      spec: {
        source: { workspaces: '.' },
        resources: [
          {
            group: 'tenancy.kcp.io',
            resource: 'workspaces',
            verbs: ['get', 'list', 'watch'],
            where: "'team' in object.metadata.labels",
            annotate: { 'example.com/team': "object.metadata.labels['team']" },
          },
        ],
      },
    })
    await scene.admin(['wait', '--for=condition=Ready', 'view/teams'])
    await scene.admin(['wait', '--for=jsonpath={.status.endpoints[0].url}', 'view/teams'])
    url = await scene.admin(['get', 'view', 'teams', '-o', 'jsonpath={.status.endpoints[0].url}'])
    await scene.label('provider', 'team=ops')
    await scene.label('red', 'team=red')
  })
  after(() => discard(scene.oriel))

  it('shows the workspaces that the user of the request can access, and for which the expression is true', async () => {
    const names = async (user: string) => {
      const reply = await (await scene.as(user, url))(`/clusters/*${path}`)
      return { status: reply.status, names: reply.json().items?.map(({ metadata }) => metadata.name) }
    }
    assert.deepEqual(await names('ada'), { status: 200, names: ['provider'] })
    assert.equal((await names('eve')).status, 403)
    const hidden = await (await scene.as('ada', url))(`/clusters/root${path}/red`)
    assert.equal(hidden.status, 404)
  })

  it('follows the permissions of the user', async () => {
    const watcher = await watch(userAt(scene.oriel, `${url}/clusters/*`, 'ada-token'), path)
    const next = (type: string, name: string) =>
      watcher.next(event => event.type === type && event.object.metadata?.name === name)
    await next('ADDED', 'provider')
    const roles = rolesFor('ada', { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['list'] })
    await apply(scene.consumers.red.kubectl, ...roles)
    const added = await next('ADDED', 'red')
    assert.equal(added.object.metadata?.annotations?.['example.com/team'], 'red')
    await scene.label('red', 'team-')
    await next('DELETED', 'red')
    await scene.label('red', 'team=red')
    await watcher.next(
      event =>
        event.type === 'ADDED' &&
        watcher.seen.filter(({ object }) => object.metadata?.name === 'red').length > 2,
    )
    await scene.consumers.red.kubectl(['delete', 'clusterrolebinding', '--all'])
    await watcher.next(
      event =>
        event.type === 'DELETED' &&
        watcher.seen.filter(({ object }) => object.metadata?.name === 'red').length > 3,
    )
    watcher.stop()
  })
})
