import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import type { Client } from '../../support/client.ts'
import { eventually } from '../../support/oriel.ts'
import { apply, rolesFor, type Tenant } from '../../support/tenants.ts'
import { openScene, type Scene, type ShardName } from './scene.ts'

const robot = 'system:serviceaccount:default:robot'

const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
})

interface TokenRequest {
  readonly status: { readonly token: string }
}

describe('tokens of service accounts of a logical cluster that moves', function () {
  this.timeout(240_000)
  let scene: Scene
  let moving: Tenant
  let other: Tenant
  let client: Client
  /** Many, because servers remember for some seconds that they have accepted one. */
  const tokens: string[] = []

  before(async () => {
    scene = await openScene()
    client = await scene.anonymous()
    moving = await scene.tenant('root', 'moving', 'root')
    other = await scene.tenant('root', 'other', 'beta')
    await moving.kubectl(['create', 'serviceaccount', 'robot'])
    const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }
    await apply(moving.kubectl, ...rolesFor(robot, rule))
    await apply(moving.kubectl, ...Array.from({ length: 300 }, (_, i) => configMap(`filling-${i}`)))
    const requests = `/clusters/${moving.cluster}/api/v1/namespaces/default/serviceaccounts/robot/token`
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' }
    for (let i = 0; i < 400; i++) {
      const issued = await scene.client(requests, { method: 'POST', body })
      tokens.push(issued.json<TokenRequest>().status.token)
    }
    await eventually(inMoving, status => status === 200)
    await eventually(inOther, status => status === 403)
  })
  after(async () => {
    client.close()
    await scene.stop()
  })

  let used = 0
  const ask = async (path: string): Promise<number> => {
    const headers = { authorization: `Bearer ${tokens[used++ % tokens.length]}` }
    return (await client(path, { headers })).status
  }
  const inMoving = (): Promise<number> => ask(`/clusters/${moving.cluster}/api/v1/configmaps`)
  /** The user has no permissions there. */
  const inOther = (): Promise<number> => ask(`/clusters/${other.cluster}/api/v1/configmaps`)

  /** The statuses of requests, one after another, until the logical cluster has moved. */
  async function whileMoving(to: ShardName, request: () => Promise<number>): Promise<ReadonlySet<number>> {
    const found = new Set<number>()
    await scene.migrate(`to-${to}`, moving.cluster, to)
    let isCompleted = false
    const completed = scene.reached(`to-${to}`, 'Completed').finally(() => {
      isCompleted = true
    })
    while (!isCompleted) found.add(await request())
    await completed
    return found
  }

  it('are unavailable meanwhile, and accepted afterwards', async () => {
    const found = await whileMoving('beta', inMoving)
    assert.deepEqual([...found].filter(status => status !== 200).sort(), [503])
    await eventually(inMoving, status => status === 200)
  })

  it('are not refused in another logical cluster', async () => {
    const found = await whileMoving('root', inOther)
    assert.deepEqual([...found].filter(status => status !== 503).sort(), [403])
    assert.equal(await inOther(), 403)
  })
})
