import assert from 'node:assert/strict'
import type { TokenIssuer } from '../../framework/authn/index.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { type TestTenant, testTenant } from '../testing/tenant.ts'
import { tokenSubresource } from './tokenrequest.ts'

const cluster = 'c1'
const key = { cluster, namespace: 'default', name: 'robot' }
const issuer: TokenIssuer = {
  audiences: ['https://server'],
  legacy: async () => '',
  issue: async () => ({ token: 'header.payload.signature', expires: 0, credentialId: 'JTI=1' }),
}

describe('requests for tokens', () => {
  let tenant: TestTenant
  before(async () => {
    tenant = await testTenant()
    const { namespace, name } = key
    await tenant.put(resources.serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace, name },
    })
  })
  after(() => tenant.shard.stop())

  const request = async (more: object): Promise<KubeObject> => {
    const { schema, storage } = tokenSubresource(tenant.shard.informers, issuer)
    const sent = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, ...more }
    const ctx = tenant.shard.context(resources.serviceAccounts, cluster)
    const options = { dryRun: false, fieldManager: '' }
    return (await storage.create(ctx, key, schema.decode(sent).object, options)).object
  }

  it('may have the empty status of client-go, which is not stored', async () => {
    const { status } = await request({
      spec: { audiences: null, expirationSeconds: null, boundObjectRef: null },
      status: { token: '', expirationTimestamp: null },
    })
    assert.equal((status as { token?: string }).token, 'header.payload.signature')
  })

  it('have a valid duration', () =>
    assert.rejects(request({ spec: { expirationSeconds: 5 } }), {
      code: 422,
      message: /spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes/,
    }))
})
