import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import type { Client, Frame } from '../../support/client.ts'
import { eventually } from '../../support/oriel.ts'
import { publish, region, virtualExport } from '../../support/published.ts'
import { apply, bind, bindingOf, type Tenant } from '../../support/tenants.ts'
import { openScene, type Scene } from './scene.ts'

describe('published objects of a logical cluster that moves', function () {
  this.timeout(240_000)
  let scene: Scene
  let provider: Tenant
  let near: Tenant
  let far: Tenant

  before(async () => {
    scene = await openScene()
    provider = await scene.tenant('root', 'provider', 'root')
    near = await scene.tenant('root', 'near', 'root')
    far = await scene.tenant('root', 'far', 'beta')
    const identity = await publish(provider)
    await apply(provider.kubectl, ...virtualExport(identity, { name: 'regions' }))
    await apply(provider.kubectl, region('north', { public: 'yes' }), region('south', { public: 'yes' }))
    for (const consumer of [near, far]) {
      const binding = bindingOf(provider, 'example.com', [])
      await eventually(
        () => consumer.kubectl.try(['apply', '-f', '-'], JSON.stringify(binding)),
        ({ code }) => code === 0,
      )
      await bind(consumer, binding)
      await eventually(
        () => listed(consumer),
        ({ names }) => names === 'north south',
      )
    }
  })
  after(() => scene.stop())

  const pathIn = ({ cluster }: Tenant): string => `/clusters/${cluster}/apis/example.com/v1/regions`

  async function listed(consumer: Tenant): Promise<{ readonly names: string; readonly version: string }> {
    const { status, json } = await scene.client(pathIn(consumer))
    if (status !== 200) return { names: '', version: '' }
    const { items = [], metadata } = json<{ items?: KubeObject[]; metadata: { resourceVersion: string } }>()
    return { names: items.map(each => each.metadata.name).join(' '), version: metadata.resourceVersion }
  }

  /** The events until the watch ends. */
  async function eventsOf(client: Client, consumer: Tenant, version: string): Promise<readonly Frame[]> {
    const stream = await client.watch(`${pathIn(consumer)}?watch=1&resourceVersion=${version}`)
    const frames: Frame[] = []
    for (let next = await stream.next(); next !== undefined; next = await stream.next()) frames.push(next)
    return frames
  }

  it('are not deleted for consumers, who list them again', async () => {
    const watches = []
    for (const consumer of [near, far])
      watches.push(eventsOf(scene.client, consumer, (await listed(consumer)).version))
    await scene.migrate('away', provider.cluster, 'beta')
    await scene.reached('away', 'Completed')
    for (const events of await Promise.all(watches))
      assert.deepEqual(
        events.filter(({ type }) => type !== 'ERROR' && type !== 'BOOKMARK'),
        [],
      )
    await apply(provider.kubectl, region('west', { public: 'yes' }))
    for (const consumer of [near, far])
      await eventually(
        () => listed(consumer),
        ({ names }) => names === 'north south west',
      )
  })
})
