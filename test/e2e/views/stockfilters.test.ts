import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type KubernetesObject, ListWatch } from '@kubernetes/client-node'
import { ClusterWatch, keyed } from '../../../examples/clusterwatch.ts'
import { clientOf } from '../../support/client.ts'
import { discard, eventually } from '../../support/oriel.ts'
import { root } from '../../support/source.ts'
import { apply } from '../../support/tenants.ts'
import { userAt } from '../../support/watcher.ts'
import { ViewScene, widget, widgets } from './declared/scene.ts'

const secrets = '/api/v1/secrets'

describe('the Views of examples/declared, with an informer', function () {
  this.timeout(120_000)
  let scene: ViewScene
  const informers: { stop(): Promise<void> }[] = []

  /** What an informer of `ada` has: the names of its objects. */
  async function follow(view: string, path: string): Promise<() => readonly string[]> {
    const { provider, oriel } = scene
    await provider(['apply', '-f', join(root, 'examples/declared', `${view}.yaml`)])
    await provider(['wait', '--for=jsonpath={.status.endpoints[0].url}', `view/${view}`])
    const url = await provider(['get', 'view', view, '-o', 'jsonpath={.status.endpoints[0].url}'])
    const config = userAt(oriel, `${url}/clusters/*`, 'ada-token')
    const client = await clientOf(config)
    const list = async () => {
      const found = (await client(path)).json()
      return { ...found, items: (found.items ?? []).map(item => keyed(item as unknown as KubernetesObject)) }
    }
    const informer = new ListWatch<KubernetesObject>(path, new ClusterWatch(config), list as never, false)
    informer.on('error', () => void informer.start())
    await informer.start()
    informers.push({
      async stop() {
        await informer.stop()
        client.close()
      },
    })
    return () =>
      informer
        .list()
        .map(({ metadata }) => metadata?.name ?? '')
        .sort()
  }

  const settles = (names: () => readonly string[], wanted: readonly string[]) =>
    eventually(
      async () => JSON.stringify(names()),
      found => found === JSON.stringify(wanted),
    )

  before(async () => {
    scene = await ViewScene.start()
    const { red, green } = scene.consumers
    await apply(red.kubectl, widget('a', 'red'), widget('b', 'blue'))
    await apply(green.kubectl, widget('c', 'red'))
  })
  after(async () => {
    await Promise.all(informers.map(informer => informer.stop()))
    await discard(scene.oriel)
  })

  it('show what belongs to a team of the user', async () => {
    const { red } = scene.consumers
    const names = await follow('only-mine', widgets)
    await settles(names, [])
    await red.kubectl(['label', 'widget', 'a', 'b', 'example.com/team=ops'])
    await settles(names, ['a', 'b'])
    await red.kubectl(['label', 'widget', 'a', 'example.com/team=others', '--overwrite'])
    await settles(names, ['b'])
  })

  it('show one kind of an export', async () => {
    const { red } = scene.consumers
    const names = await follow('one-kind', widgets)
    await settles(names, ['a', 'b', 'c'])
    await red.kubectl(['delete', 'widget', 'b'])
    await settles(names, ['a', 'c'])
    const client = await scene.as('ada', scene.oriel.url)
    const url = await scene.provider(['get', 'view', 'one-kind', '-o', 'jsonpath={.status.endpoints[0].url}'])
    const base = `${new URL(url).pathname}/clusters/${red.cluster}`
    assert.equal((await client(`${base}/api/v1/configmaps`)).status, 403)
    client.close()
  })

  it('show the consumers with a label', async () => {
    const names = await follow('gold-consumers', widgets)
    await settles(names, [])
    await scene.label('green', 'tier=gold')
    await settles(names, ['c'])
    await scene.label('green', 'tier=silver')
    await settles(names, [])
  })

  it('show secrets without their values', async () => {
    const { provider } = scene
    const names = await follow('secrets-without-values', secrets)
    const before = names()
    await provider(['create', 'secret', 'generic', 'mine', '--from-literal=password=sesame'])
    await settles(names, [...before, 'mine'].sort())
    const url = await provider([
      'get',
      'view',
      'secrets-without-values',
      '-o',
      'jsonpath={.status.endpoints[0].url}',
    ])
    const client = await scene.as('ada', `${url}/clusters/*`)
    const { text } = await client(secrets)
    client.close()
    assert.ok(text.includes('"mine"') && !/"data"|f:data|password/.test(text), text)
    await provider(['delete', 'secret', 'mine'])
    await settles(names, before)
  })
})
