import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { exportHash, exportLabel } from '../../../kcp/labels.ts'
import { resources } from '../../../kcp/resources.ts'
import { claimsDecorator } from '../../claims/index.ts'
import { configMap, configMaps, refusal, type TestTenant, testTenant } from '../../testing/tenant.ts'
import { acceptedClaimsAdmission } from './acceptedclaims.ts'

const claims = ['configmaps', 'secrets'].map(resource => ({
  group: '',
  resource,
  verbs: ['*'],
  selector: { matchAll: true },
  state: 'Accepted',
}))

const binding = (name: string, permissionClaims: readonly object[] = claims): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name, labels: { [exportLabel]: exportHash({ cluster: 'provider', name }) } },
  spec: { reference: { export: { path: 'provider', name } }, permissionClaims },
})

describe('changes of accepted claims', () => {
  let tenant: TestTenant
  let now = 0
  beforeEach(async () => {
    now = 0
    tenant = await testTenant({
      decorate: claimsDecorator,
      admission: ({ cache }) => [acceptedClaimsAdmission(cache, { perSecond: 1, burst: 4, now: () => now })],
    })
    for (const name of ['a', 'b', 'c']) await tenant.put(configMaps, configMap(name))
  })
  afterEach(() => tenant.shard.stop())

  const accept = (name: string, options = {}) => tenant.put(resources.apiBindings, binding(name), options)

  it('are refused until time has paid for the objects that earlier changes labelled', async () => {
    await accept('first')
    await accept('second')
    const { code, message, details } = await refusal(accept('third'))
    assert.equal(code, 429)
    assert.match(message ?? '', /^spec\.permissionClaims: .* this change labels 3 objects, try again in 2 s$/)
    assert.equal(details?.retryAfterSeconds, 2)
    now = 2_000
    await accept('third')
  })

  it('cost nothing where they label no object, and in a dry run', async () => {
    await accept('first')
    for (let i = 0; i < 5; i++) await accept('second', { dryRun: true })
    await accept('second')
    await tenant.put(resources.apiBindings, binding('third', claims.slice(1)))
  })

  it('by the server itself are not limited', async () => {
    for (const name of ['first', 'second', 'third', 'fourth'])
      await tenant.shard.client.create(
        resources.apiBindings,
        { cluster: 'c1', namespace: '', name },
        binding(name),
      )
  })
})
