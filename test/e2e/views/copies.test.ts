import assert from 'node:assert/strict'
import type { KubeConfig } from '@kubernetes/client-node'
import { certificates } from '../../support/crds.ts'
import { discard, eventually } from '../../support/oriel.ts'
import { type Standalone, startStandalone } from '../../support/servers/standalone.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../../support/tenants.ts'
import { configAt, request, type Seen, type Watcher, watch } from '../../support/watcher.ts'

const path = '/apis/cert-manager.io/v1/certificates'
const any = { resourceVersion: '0' }

const add = (consumer: Tenant, name: string): Promise<string> =>
  apply(consumer.kubectl, {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name, namespace: 'default' },
    spec: { secretName: name, issuerRef: { name: 'ca' } },
  })

const text = ({ type, object }: Seen): string => `${type} ${object.metadata?.name}`
const arrival = (watcher: Watcher, wanted: string): Promise<Seen> =>
  watcher.next(seen => text(seen) === wanted)

/** Names in a list that may be stale. */
async function listed(config: KubeConfig): Promise<readonly string[]> {
  const { body } = await request(config, `${path}?resourceVersion=0`)
  const { items } = JSON.parse(body) as { items: readonly { metadata: { name: string } }[] }
  return items.map(({ metadata }) => metadata.name)
}

/** Views over all logical clusters read copies, which must follow changes of providers and consumers. */
describe('copies in front of a shard', function () {
  this.timeout(240_000)
  let standalone: Standalone
  let provider: Tenant
  let consumer: Tenant
  let name: string
  let config: KubeConfig

  before(async () => {
    standalone = await startStandalone()
    const tenants = await createWorkspaces(standalone, ['provider', 'consumer'])
    provider = tenants[0] as Tenant
    consumer = tenants[1] as Tenant
    name = await exportApi(provider, certificates(), [])
    await bind(consumer, bindingOf(provider, name, []))
    config = configAt(standalone, `${await publishedUrl(provider, name)}/clusters/*`)
  })
  after(() => discard(standalone))

  const leave = async (): Promise<void> =>
    void (await consumer.kubectl(['delete', 'apibinding', name, '--wait', '--timeout=60s']))

  it('empties when a consumer unbinds, and fills when it binds again, for every watcher', async () => {
    const watchers = await Promise.all([1, 2, 3].map(() => watch(config, path, any)))
    await add(consumer, 'a')
    await Promise.all(watchers.map(each => arrival(each, 'ADDED a')))
    assert.deepEqual(await listed(config), ['a'])
    await leave()
    await Promise.all(watchers.map(each => arrival(each, 'DELETED a')))
    assert.deepEqual(
      await eventually(
        () => listed(config),
        names => names.length === 0,
      ),
      [],
    )
    await bind(consumer, bindingOf(provider, name, []))
    await add(consumer, 'b')
    await Promise.all(watchers.map(each => arrival(each, 'ADDED b')))
    for (const each of watchers) {
      each.stop()
      const seen = each.seen.filter(({ type }) => type !== 'MODIFIED').map(text)
      assert.deepEqual(seen, ['ADDED a', 'DELETED a', 'ADDED b'])
    }
  })

  it('is separate for each export', async () => {
    const before = await watch(config, path, any)
    await arrival(before, 'ADDED b')
    await leave()
    await provider.kubectl(['delete', 'apiexport', name, '--wait', '--timeout=60s'])
    await exportApi(provider, certificates(), [])
    await bind(consumer, bindingOf(provider, name, []))
    await publishedUrl(provider, name)
    await add(consumer, 'c')
    assert.deepEqual(
      await eventually(
        () => listed(config).catch((): readonly string[] => []),
        names => names.includes('c'),
      ),
      ['c'],
    )
    const after = await watch(config, path, any)
    await arrival(after, 'ADDED c')
    assert.deepEqual(after.seen.map(text), ['ADDED c'])
    for (const each of [before, after]) each.stop()
  })
})
