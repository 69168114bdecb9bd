import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { skip } from '../../support/notrun.ts'
import { discard, eventually, type Kubectl, kubectlFor, type Oriel } from '../../support/oriel.ts'
import { startServer } from '../../support/servers/kcp.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'

interface Quota {
  readonly status?: { readonly used?: Readonly<Record<string, string>> }
}
const counted = 'count/configmaps'
const quota: KubeObject = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'quota', namespace: 'default' },
  spec: { hard: { [counted]: '3' } },
}

/** With `KCP_BIN=… npx mocha …` it runs against kcp. */
describe('quotas in a workspace', function () {
  this.timeout(240_000)
  let oriel: Oriel
  let one: Tenant
  let other: Tenant
  let third: Tenant
  before(async () => {
    oriel = await startServer()
    const tenants = await createWorkspaces(oriel, ['one', 'other', 'third'])
    one = tenants[0] as Tenant
    other = tenants[1] as Tenant
    third = tenants[2] as Tenant
    for (const { kubectl } of [one, other]) await apply(kubectl, quota)
  })
  after(() => discard(oriel))

  const used = (kubectl: Kubectl, wanted: string) =>
    eventually(
      () => kubectl.json<Quota>(['get', 'resourcequota', 'quota', '-n', 'default']),
      ({ status }) => status?.used?.[counted] === wanted,
    )
  const create = ({ kubectl }: Tenant, name: string) =>
    kubectl.try(['create', 'configmap', name, '-n', 'default'])

  it('apply in a namespace, for each workspace separately', async () => {
    for (const { kubectl } of [one, other]) await used(kubectl, '1')
    await eventually(
      () => create(one, 'a'),
      ({ code }) => code === 0,
    )
    assert.equal((await create(one, 'b')).code, 0)
    const { stderr } = await create(one, 'c')
    const what = `requested: ${counted}=1, used: ${counted}=3, limited: ${counted}=3`
    assert.match(stderr, new RegExp(`configmaps "c" is forbidden: exceeded quota: quota, ${what}`))
    assert.equal((await create(other, 'a')).code, 0)
    await one.kubectl(['delete', 'configmap', 'a', '-n', 'default'])
    await used(one.kubectl, '2')
    assert.equal((await create(one, 'c')).code, 0)
  })

  it('are not exceeded by concurrent requests', async () => {
    await used(other.kubectl, '2')
    const outcomes = await Promise.all(['b', 'c', 'd', 'e'].map(name => create(other, name)))
    assert.equal(outcomes.filter(({ code }) => code === 0).length, 1)
  })

  it('apply to all objects of a logical cluster', async function () {
    if (process.env.KCP_BIN) skip(this, 'kcp counts once a minute')
    const system = kubectlFor(oriel, 'shard-base').at(`/clusters/${third.cluster}`)
    await system(['annotate', 'logicalcluster', 'cluster', 'core.kcp.io/max-total-objects=5'])
    const { stderr } = await create(third, 'a')
    const reached = String.raw`has reached its total object count limit \(\d+/5 objects\)`
    assert.match(
      stderr,
      new RegExp(`logical cluster "${third.cluster}" ${reached}; delete objects to free up capacity`),
    )
    await system(['annotate', 'logicalcluster', 'cluster', 'core.kcp.io/max-total-objects=0', '--overwrite'])
    assert.equal((await create(third, 'a')).code, 0)
  })
})
