import assert from 'node:assert/strict'
import { eventually } from '../../../support/oriel.ts'
import { apply } from '../../../support/tenants.ts'
import {
  configMap,
  create,
  get,
  gone,
  isReady,
  type Lifecycle,
  remove,
  start,
  urlOf,
  workspace,
} from './scene.ts'

export const examples = (scene: Lifecycle): void => {
  it('let a controller prepare each new workspace', async () => {
    const child = await start(scene, 'initializer', await urlOf(scene, 'prepared', 'initializing'))
    await Promise.all(['one', 'two'].map(name => apply(scene.admin, workspace(name, 'prepared'))))
    for (const name of ['one', 'two']) {
      await get(scene, name, isReady)
      const data = await scene.admin.at(`/clusters/root:${name}`)([
        'get',
        'configmap',
        'welcome',
        '-o',
        'jsonpath={.data}',
      ])
      assert.deepEqual(JSON.parse(data), { from: 'the initializer' })
    }
    child.kill()
  })

  it('say which permission a refused controller lacks', async () => {
    const child = await start(scene, 'initializer', await urlOf(scene, 'twice', 'initializing'))
    const printed: string[] = []
    child.stderr?.setEncoding('utf8').on('data', chunk => printed.push(chunk))
    // Only the server of the workspace knows its roles.
    const isEmbedded = scene.oriel.viewsUrl === scene.oriel.url
    const hint = isEmbedded ? /\n {2}you have access to this workspace, but no role/ : /access denied\n/
    const lacks = new RegExp(`^refused, retrying .* is forbidden: .*${hint.source}`)
    await eventually(
      async () => printed.join(''),
      text => lacks.test(text),
    )
    child.kill()
  })

  it('let a controller clean up in each workspace that goes', async () => {
    const child = await start(scene, 'terminator', await urlOf(scene, 'cleaned', 'terminating'))
    await create(scene, 'short', 'cleaned')
    await get(scene, 'short', isReady)
    await apply(
      scene.admin.at('/clusters/root:short'),
      configMap('locked', { finalizers: ['example.com/lock'] }),
    )
    await remove(scene, 'short')
    await gone(scene, 'short')
    child.kill()
  })
}
