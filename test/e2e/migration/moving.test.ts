import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { clusterGadgets } from '../../support/crds.ts'
import { eventually } from '../../support/oriel.ts'
import { apply, bind, bindingOf, exportApi, type Tenant } from '../../support/tenants.ts'
import { openScene, type Scene } from './scene.ts'

const group = 'moving.example.com'
const gadget = (name: string): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'Gadget',
  metadata: { name },
})
const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
})

const eventuallyBound = (consumer: Tenant, provider: Tenant): Promise<void> =>
  eventually(
    () => consumer.kubectl.try(['apply', '-f', '-'], JSON.stringify(bindingOf(provider, group, []))),
    ({ code }) => code === 0,
  ).then(() => bind(consumer, bindingOf(provider, group, [])))

describe('a logical cluster that moves to another shard', function () {
  this.timeout(240_000)
  let scene: Scene
  let provider: Tenant
  let consumer: Tenant

  before(async () => {
    scene = await openScene()
    provider = await scene.tenant('root', 'provider', 'root')
    consumer = await scene.tenant('root', 'consumer', 'root')
    await exportApi(provider, clusterGadgets(group), [])
    await eventuallyBound(consumer, provider)
    await apply(consumer.kubectl, gadget('first'), configMap('one'), configMap('two'))
  })
  after(() => scene.stop())

  const names = async ({ kubectl }: Tenant, resource: string): Promise<readonly string[]> =>
    (await kubectl(['get', resource, '-o', 'jsonpath={.items[*].metadata.name}'])).split(' ')

  it('takes its objects along, and leaves none behind', async () => {
    const children = await scene.tenant(consumer.path, 'child', 'root')
    const configMaps = `/clusters/${consumer.path}/api/v1/namespaces/default/configmaps`
    const { metadata } = (await scene.client(configMaps)).json()
    const old = `resourceVersion=${metadata.resourceVersion}`
    const stream = await scene.client.watch(`${configMaps}?watch=1&${old}`)
    await scene.migrate('away', consumer.cluster, 'beta')
    const done = await scene.reached('away', 'Completed')
    assert.equal(await stream.next(), undefined, 'the watch ends without an event')
    assert.equal(done.status?.originShard, 'root')
    assert.ok((done.status?.entriesCopied ?? 0) > 5)
    assert.equal(done.status?.dumpContinue, '')
    await eventually(
      () => scene.migration('away'),
      ({ metadata }) => (metadata.finalizers ?? []).length === 0,
    )
    assert.deepEqual(await names(consumer, `gadgets.${group}`), ['first'])
    assert.deepEqual(await names(consumer, 'configmaps'), ['kube-root-ca.crt', 'one', 'two'])
    const relist = await scene.client(`${configMaps}?watch=1&${old}`)
    assert.deepEqual([relist.status, relist.json().reason], [410, 'Expired'])
    const workspace = await scene.through('root').json<KubeObject>(['get', 'workspace', 'consumer'])
    assert.equal(workspace.metadata.annotations?.['core.kcp.io/shard'], 'beta')
    assert.deepEqual(await scene.leftOn('root', consumer.cluster), [])
    await apply(consumer.kubectl, gadget('second'))
    await apply(children.kubectl, configMap('of-child'))
  })

  it('is deleted with its workspace on the shard where it is now', async () => {
    const short = await scene.tenant('root', 'short', 'root')
    await scene.migrate('short', short.cluster, 'beta')
    await scene.reached('short', 'Completed')
    await scene.through('root')(['delete', 'workspace', 'short', '--timeout=60s'])
    assert.deepEqual(await scene.leftOn('beta', short.cluster), [])
  })

  it('moves as a provider while its consumers go on', async () => {
    const ofBeta = `:${new URL(scene.shards.beta.url).port}/`
    const views = await eventually(
      endpoints,
      ([url = '', ...more]) => more.length === 0 && url.includes(ofBeta),
    )
    await scene.migrate('provider', provider.cluster, 'beta')
    await scene.reached('provider', 'Completed')
    await apply(consumer.kubectl, gadget('third'))
    const { status } = await consumer.kubectl.json<{ status: { phase: string } } & KubeObject>([
      'get',
      'apibinding',
      group,
    ])
    assert.equal(status.phase, 'Bound')
    assert.deepEqual(await endpoints(), views)
    const near = await scene.tenant('root', 'near', 'root')
    await eventuallyBound(near, provider)
    await apply(near.kubectl, gadget('near'))
  })

  async function endpoints(): Promise<readonly string[]> {
    const query = 'jsonpath={.status.endpoints[*].url}'
    const text = await provider.kubectl(['get', 'apiexportendpointslice', group, '-o', query])
    return text.split(' ').filter(url => url !== '')
  }

  it('moves back', async () => {
    await scene.migrate('back', consumer.cluster, 'root')
    await scene.reached('back', 'Completed')
    assert.deepEqual(await names(consumer, `gadgets.${group}`), ['first', 'second', 'third'])
    await apply(consumer.kubectl, gadget('fourth'))
  })
})
