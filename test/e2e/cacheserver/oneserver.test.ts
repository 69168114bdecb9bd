import assert from 'node:assert/strict'
import { type Client, clientOf } from '../../support/client.ts'
import { eventually, type Oriel, startOriel } from '../../support/oriel.ts'
import { publish, region } from '../../support/published.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'

const selected = { public: 'yes' }
const spec = {
  labelSelector: { matchLabels: selected },
  identity: { secretRef: { namespace: 'default', name: 'identity' } },
}

/** A shard without a cache server shows published objects where kcp's embedded one has their copies. */
describe('published objects of one server', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let masters: Client
  let one: Tenant
  let two: Tenant
  let other: Tenant
  let identity: string

  const provide = async (tenant: Tenant, key: string, name: string): Promise<string> => {
    const metadata = { namespace: 'default', name: 'identity' }
    await apply(tenant.kubectl, { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { key } } as never)
    const found = await publish(tenant, spec)
    await apply(tenant.kubectl, region(name, selected), region(`hidden-${name}`))
    return found
  }

  before(async () => {
    oriel = await startOriel()
    masters = await clientOf(configAt(oriel, '', 'shard-base'))
    const tenants = await createWorkspaces(oriel, ['one', 'two', 'other'])
    ;[one, two, other] = tenants as [Tenant, Tenant, Tenant]
    identity = await provide(one, 'shared', 'north')
    assert.equal(await provide(two, 'shared', 'south'), identity)
    assert.notEqual(await provide(other, 'own', 'west'), identity)
  })
  after(() => oriel.stop())

  const at = (cluster: string, resource = `regions:${identity}`): string =>
    `${oriel.url}/services/cache/shards/root/clusters/${cluster}/apis/example.com/v1/${resource}`
  const listed = async (path: string): Promise<readonly string[] | number> => {
    const { status, json } = await masters(path)
    const { items = [] } = status === 200 ? json<{ items?: readonly { metadata: { name: string } }[] }>() : {}
    return status === 200 ? items.map(({ metadata }) => metadata.name).sort() : status
  }

  it('are those of one identity over all logical clusters', async () => {
    assert.deepEqual(await listed(at('*')), ['north', 'south'])
    assert.equal(await listed(at('*', 'regions:feed')), 404)
    assert.equal(await listed(at('*', 'regions')), 404)
  })

  it('are read without the identity in their logical cluster', async () => {
    assert.deepEqual(await listed(at(other.cluster, 'regions')), ['west'])
    assert.equal((await masters(at(other.cluster, 'regions/west'))).status, 200)
    assert.equal((await masters(at(other.cluster, 'regions/hidden-west'))).status, 404)
    assert.equal(await listed(at('root', 'regions')), 404)
  })

  it('are watched over all logical clusters, until others are published', async () => {
    const watch = await masters.watch(`${at('*')}?watch=true`)
    const next = async () => {
      const event = await watch.next()
      return `${event?.type} ${event?.object.metadata?.name ?? JSON.stringify(event?.object)}`
    }
    assert.deepEqual([await next(), await next()].sort(), ['ADDED north', 'ADDED south'])
    await two.kubectl(['label', 'region', 'hidden-south', 'public=yes'])
    assert.equal(await next(), 'ADDED hidden-south')
    await other.kubectl(['label', 'region', 'hidden-west', 'public=yes'])
    await two.kubectl(['label', 'region', 'hidden-south', 'public-'])
    assert.equal(await next(), 'DELETED hidden-south')
    await two.kubectl(['delete', 'clustercachedresource', 'regions'])
    assert.match(await next(), /^ERROR .*"code":410/)
    await eventually(
      () => listed(at('*')),
      found => String(found) === 'north',
    )
    assert.equal(await listed(at(two.cluster, 'regions')), 404)
  })

  it('are not watched from a revision before others were published', async () => {
    const { json } = await masters(at('*'))
    const { resourceVersion } = json<{ metadata: { resourceVersion: string } }>().metadata
    await publish(two, spec)
    await eventually(
      () => listed(at('*')),
      found => String(found) === 'north,south',
    )
    const watch = await masters.watch(`${at('*')}?watch=true&resourceVersion=${resourceVersion}`)
    assert.match(JSON.stringify(await watch.next()), /"code":410/)
  })
})
