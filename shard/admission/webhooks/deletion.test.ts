import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { createAddressPolicy } from '../../../framework/net/addresspolicy.ts'
import { serveWebhooks, type Webhooks } from '../../../test/support/servers/webhooks.ts'
import { ask } from '../../../test/support/widgets.ts'
import { configMap, configMaps, refusal, type TestTenant, testTenant } from '../../testing/tenant.ts'

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly request: {
    readonly uid: string
    readonly operation: string
    readonly object: unknown
    readonly oldObject: KubeObject
  }
}

const patched = (...operations: readonly object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

const answers: Readonly<Record<string, object>> = {
  '/allow': { allowed: true },
  '/deny': { allowed: false, status: { message: 'it stays' } },
  '/patch': patched({ op: 'add', path: '/data', value: {} }),
  '/blank': patched(),
}

describe('mutating webhooks on deletions', () => {
  let tenant: TestTenant
  let webhooks: Webhooks
  const asked: string[] = []
  const reviews: Review['request'][] = []
  before(async () => {
    const recorded = Object.entries(answers).map(([path, answer]) => [
      path,
      ({ request }: Review) => {
        asked.push(`${path} ${request.operation} ${request.oldObject.metadata.name}`)
        reviews.push(request)
        return answer
      },
    ])
    webhooks = await serveWebhooks<Review>(Object.fromEntries(recorded))
    tenant = await testTenant({ webhookAddresses: createAddressPolicy({ allow: ['127.0.0.1'] }) })
  })
  after(async () => {
    webhooks.close()
    await tenant.shard.stop()
  })

  /** Creates webhooks, by their paths, that are called for the deletion of one ConfigMap. */
  async function configure(kind: 'Mutating' | 'Validating', of: string, paths: readonly string[], more = {}) {
    const hooks = paths.map(path => ({
      name: `${path}.${of}.example.com`,
      clientConfig: { url: `${webhooks.url}/${path}`, caBundle: webhooks.caBundle },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] }],
      matchConditions: [{ name: 'mine', expression: `object == null && oldObject.metadata.name == '${of}'` }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...more,
    }))
    const group = 'admissionregistration.k8s.io'
    const resource = `${kind.toLowerCase()}webhookconfigurations`
    const configuration = { kind: `${kind}WebhookConfiguration`, metadata: { name: of }, webhooks: hooks }
    await tenant.put({ group, version: 'v1', resource }, { apiVersion: `${group}/v1`, ...configuration })
  }

  async function remove(name: string): Promise<unknown> {
    await tenant.put(configMaps, configMap(name, { data: { a: 'b' } }))
    asked.length = 0
    reviews.length = 0
    return tenant.remove(configMaps, name)
  }

  it('are called before validating ones, with oldObject only', async () => {
    await configure('Validating', 'gone', ['allow'])
    await configure('Mutating', 'gone', ['blank', 'allow'])
    await remove('gone')
    assert.deepEqual(asked, ['/blank DELETE gone', '/allow DELETE gone', '/allow DELETE gone'])
    assert.equal(reviews[0]?.object, null)
    assert.deepEqual(reviews[0]?.oldObject.data, { a: 'b' })
  })

  it('are called for each object of a collection', async () => {
    const objectSelector = { matchLabels: { in: 'it' } }
    await configure('Mutating', 'each', ['allow'], { objectSelector, matchConditions: [] })
    for (const name of ['one', 'two'])
      await tenant.put(
        configMaps,
        configMap(name, { metadata: { name, namespace: 'default', labels: { in: 'it' } } }),
      )
    const served = tenant.shard.backend.apis('c1')?.find('', 'v1', 'configmaps')
    assert.ok(served)
    asked.length = 0
    const where = { cluster: 'c1', namespace: 'default', query: 'labelSelector=in%3Dit' }
    await ask(served, { verb: 'deletecollection', ...where, user: { name: 'alice', groups: [] } })
    assert.deepEqual(asked.toSorted(), ['/allow DELETE one', '/allow DELETE two'])
  })

  it('can refuse, and later webhooks are not called', async () => {
    await configure('Mutating', 'kept', ['deny', 'allow'])
    const status = await refusal(remove('kept'))
    assert.equal(status.code, 400)
    assert.equal(status.message, 'admission webhook "deny.kept.example.com" denied the request: it stays')
    assert.deepEqual(asked, ['/deny DELETE kept'])
  })

  it('cannot change the object, for every failurePolicy', async () => {
    await configure('Mutating', 'changed', ['patch'], { failurePolicy: 'Ignore' })
    const status = await refusal(remove('changed'))
    assert.deepEqual([status.code, status.reason], [500, 'InternalError'])
    assert.equal(
      status.message,
      'Internal error occurred: admission webhook "patch.changed.example.com" attempted to modify the object, which is not supported for this operation',
    )
  })

  it('follow failurePolicy when they are unreachable', async () => {
    await configure('Mutating', 'closed', ['nowhere'])
    assert.equal((await refusal(remove('closed'))).code, 500)
    await configure('Mutating', 'open', ['nowhere'], { failurePolicy: 'Ignore' })
    await remove('open')
  })
})
