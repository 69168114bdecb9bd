import assert from 'node:assert/strict'
import { clientOf } from '../../support/client.ts'
import { certificates } from '../../support/crds.ts'
import { needsLastingStore } from '../../support/notrun.ts'
import { discard, eventually } from '../../support/oriel.ts'
import { type Standalone, startStandalone } from '../../support/servers/standalone.ts'
import {
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../../support/tenants.ts'
import { configAt, type Seen, watch } from '../../support/watcher.ts'
import { lifecycleFlows } from '../workspaces/lifecycle/flows.suite.ts'
import { apiexportFlows } from './apiexport.suite.ts'

/** The views in a separate process: `KCP_BIN=… npm run test:kcp` starts them in front of kcp. */
describe('the apiexport view in front of a shard', apiexportFlows(startStandalone))
describe('a watch in front of a shard', function () {
  this.timeout(240_000)
  let standalone: Standalone
  before(async () => {
    standalone = await startStandalone()
  })
  after(() => discard(standalone))

  it('refuses Views and queries with a sentence, and names the server of the workspaces', async () => {
    const client = await clientOf(configAt(standalone, standalone.viewsUrl))
    for (const [path, name] of [
      ['/services/query/clusters/*/api/v1/configmaps', 'query'],
      ['/services/views/root/v/clusters/*/api/v1/configmaps', 'views'],
    ] as const) {
      const { status, text } = await client(path)
      assert.equal(status, 403, text)
      const sentence = `this program does not serve the view \\"${name}\\": ask the server of the workspaces, because `
      assert.ok(text.includes(sentence), text)
    }
    client.close()
  })

  it('continues when the shard was killed and restarted: no event is lost or repeated', async function () {
    needsLastingStore(this)
    const [provider, consumer] = (await createWorkspaces(standalone, ['provider', 'consumer'])) as [
      Tenant,
      Tenant,
    ]
    const name = await exportApi(provider, certificates(), [])
    await bind(consumer, bindingOf(provider, name, []))
    const config = configAt(standalone, `${await publishedUrl(provider, name)}/clusters/*`)
    const watcher = await watch(config, '/apis/cert-manager.io/v1/certificates')
    const add = async (certificate: string): Promise<void> => {
      const spec = { secretName: certificate, issuerRef: { name: 'ca' } }
      const metadata = { name: certificate, namespace: 'default' }
      const object = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate', metadata, spec }
      await eventually(
        () => consumer.kubectl.try(['create', '-f', '-'], JSON.stringify(object)),
        ({ code }) => code === 0,
      )
    }
    const arrival = (certificate: string): Promise<Seen> =>
      watcher.next(({ type, object }) => type === 'ERROR' || object.metadata?.name === certificate)
    await add('before')
    await arrival('before')
    await standalone.shard.restart()
    await add('after')
    const { type, object } = await arrival('after')
    watcher.stop()
    const seen = watcher.seen.map(each => `${each.type} ${each.object.metadata?.name}`)
    // kcp loses its history: clients get an error, and list again.
    if (type === 'ERROR') assert.equal((object as { code?: number }).code, 410)
    else assert.deepEqual(seen, ['ADDED before', 'ADDED after'])
  })
})

describe('the lifecycle views in front of a shard', lifecycleFlows(startStandalone))
