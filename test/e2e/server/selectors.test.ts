import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, clientOf } from '../../support/client.ts'
import { discard, eventually, type Oriel } from '../../support/oriel.ts'
import { startServer } from '../../support/servers/kcp.ts'
import { startWebhook, type Webhook } from '../../support/servers/webhook.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'

// Authorizers receive the selectors of a request (KEP-4601); with KCP_BIN also on kcp.

interface Attributes {
  readonly resource?: string
  readonly verb?: string
  readonly fieldSelector?: Selector
  readonly labelSelector?: Selector
}

interface Selector {
  readonly requirements?: readonly { readonly key: string }[]
}

const reviews = '/apis/authorization.k8s.io/v1'
const configMaps = '/api/v1/namespaces/default/configmaps'

describe('selectors in authorization', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let hook: Webhook
  let tenant: Tenant
  let client: Client

  const attributesOf = (body: Record<string, unknown>): Attributes =>
    (body.spec as { resourceAttributes?: Attributes }).resourceAttributes ?? {}

  before(async () => {
    const directory = await temporaryDirectory('selectors')
    // Carol may read the objects of her team.
    hook = await startWebhook(body => {
      const isHers = JSON.stringify(attributesOf(body).labelSelector ?? {}).includes('carols')
      const { resource } = attributesOf(body)
      return {
        kind: 'SubjectAccessReview',
        apiVersion: 'authorization.k8s.io/v1',
        status: { allowed: resource === undefined || isHers },
      }
    })
    const file = join(directory, 'hook.yaml')
    await writeFile(file, hook.kubeconfig)
    const flags = ['--authorization-webhook-config-file', file, '--authorization-webhook-version', 'v1']
    oriel = await startServer(flags)
    ;[tenant] = (await createWorkspaces(oriel, ['selectors'])) as [Tenant]
    client = await clientOf(configAt(oriel, `${oriel.url}/clusters/${tenant.path}`))
    await open()
  })
  after(async () => {
    client?.close()
    await discard(oriel)
    hook.close()
  })

  /** Gives Carol access to the workspace, and all users SelfSubjectReviews. */
  async function open(): Promise<void> {
    const metadata = { name: 'carol' }
    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' }
    const own = {
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews'],
      verbs: ['create'],
    }
    const rules = [{ nonResourceURLs: ['/'], verbs: ['access'] }, own]
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'carol' }
    const subjects = [{ apiGroup: roleRef.apiGroup, kind: 'User', name: 'carol' }]
    await apply(
      tenant.kubectl,
      { ...rbac, kind: 'ClusterRole', metadata, rules },
      { ...rbac, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
    )
    const mine = await eventually(
      () => asCarol('POST', `${reviews}/selfsubjectaccessreviews`, review({})),
      ({ status }) => status === 201,
    )
    assert.equal(mine.status, 201)
  }

  const asCarol = (method: string, path: string, body?: object) =>
    client(path, { method, headers: { 'impersonate-user': 'carol' }, ...(body && { body }) })
  const review = (attributes: object, kind = 'SelfSubjectAccessReview', more: object = {}) => ({
    apiVersion: 'authorization.k8s.io/v1',
    kind,
    spec: { resourceAttributes: { verb: 'list', resource: 'configmaps', ...attributes }, ...more },
  })
  /** The reviews of ConfigMaps that the webhook received during `run`. */
  async function asked(run: () => Promise<unknown>): Promise<readonly Attributes[]> {
    const before = hook.got.length
    await run()
    const about = hook.got.slice(before).map(attributesOf)
    return about.filter(({ resource }) => resource === 'configmaps')
  }
  const field = (key: string, operator: string, value: string) => ({ key, operator, values: [value] })

  for (const [verb, method, query] of [
    ['list', 'GET', ''],
    ['watch', 'GET', 'watch=1&timeoutSeconds=1&'],
    ['deletecollection', 'DELETE', ''],
  ] as const)
    it(`are those of a ${verb}`, async () => {
      const selectors = 'labelSelector=team%3Dcarols,b!%3Dc,!d,e&fieldSelector=metadata.name!%3Dx'
      const path = `${configMaps}?${query}${selectors}`
      const [attributes] = await asked(async () => {
        assert.equal((await asCarol(method, path)).status, 200)
      })
      assert.equal(attributes?.verb, verb)
      assert.deepEqual(attributes?.fieldSelector, { requirements: [field('metadata.name', 'NotIn', 'x')] })
      const { requirements = [] } = attributes?.labelSelector ?? {}
      assert.deepEqual(
        requirements.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
        [
          field('b', 'NotIn', 'c'),
          { key: 'd', operator: 'DoesNotExist' },
          { key: 'e', operator: 'Exists' },
          field('team', 'In', 'carols'),
        ],
      )
    })

  it('that cannot be parsed are ignored', async () => {
    const [attributes] = await asked(async () => {
      assert.equal((await asCarol('GET', `${configMaps}?labelSelector=team%20in%20(carols`)).status, 403)
    })
    assert.deepEqual([attributes?.labelSelector, attributes?.fieldSelector], [undefined, undefined])
  })

  it('are not sent for other verbs', async () => {
    const [attributes] = await asked(async () => {
      assert.equal((await asCarol('GET', `${configMaps}/x?labelSelector=team%3Dcarols`)).status, 403)
    })
    assert.deepEqual([attributes?.verb, attributes?.labelSelector], ['get', undefined])
  })

  const labelSelector = { requirements: [field('team', 'In', 'carols')] }
  const fieldSelector = { rawSelector: 'metadata.name=x' }

  it('are those of a SelfSubjectAccessReview', async () => {
    const body = review({ fieldSelector, labelSelector })
    const [attributes] = await asked(async () => {
      const { status } = (await asCarol('POST', `${reviews}/selfsubjectaccessreviews`, body)).json()
      assert.equal((status as { allowed?: boolean }).allowed, true)
    })
    assert.deepEqual(attributes?.labelSelector, labelSelector)
    assert.deepEqual(attributes?.fieldSelector, { requirements: [field('metadata.name', 'In', 'x')] })
  })

  it('are those of a SubjectAccessReview', async () => {
    const body = review({ labelSelector: { rawSelector: 'team=carols,x=y' } }, 'SubjectAccessReview', {
      user: 'carol',
    })
    const [attributes] = await asked(async () => {
      const { status } = (await client(`${reviews}/subjectaccessreviews`, { method: 'POST', body })).json()
      assert.equal((status as { allowed?: boolean }).allowed, true)
    })
    const { requirements = [] } = attributes?.labelSelector ?? {}
    assert.equal(requirements.length, 2)
  })

  it('are those of authorizer checks in expressions', async () => {
    const check = (selectors: string): string =>
      `authorizer.serviceAccount('default', 'default').group('').resource('configmaps').namespace('default')${selectors}.check('list')`
    const limited = check(".fieldSelector('metadata.name=x').labelSelector('team=carols')")
    const unread = check(".labelSelector('team in (carols')")
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
    const policy = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'asks' } }
    await apply(
      tenant.kubectl,
      {
        ...policy,
        kind: 'ValidatingAdmissionPolicy',
        spec: {
          matchConstraints: { resourceRules: [rule] },
          variables: [
            { name: 'limited', expression: `${limited}.allowed()` },
            { name: 'unread', expression: `${unread}.allowed()` },
          ],
          validations: [{ expression: 'variables.limited && !variables.unread' }],
        },
      },
      {
        ...policy,
        kind: 'ValidatingAdmissionPolicyBinding',
        spec: { policyName: 'asks', validationActions: ['Deny'] },
      },
    )
    let count = 0
    const create = async (): Promise<void> => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `asking-${count++}` } }
      assert.equal((await client(configMaps, { method: 'POST', body })).status, 201)
    }
    const about = await eventually(
      () => asked(create),
      ({ length }) => length > 0,
    )
    // kcp may send the same review more than once.
    const questions = about.map(each => JSON.stringify([each.labelSelector, each.fieldSelector]))
    const named = { requirements: [field('metadata.name', 'In', 'x')] }
    assert.deepEqual([...new Set(questions)], [JSON.stringify([labelSelector, named]), '[null,null]'])
  })

  const selfReview = async (attributes: object) =>
    (await client(`${reviews}/selfsubjectaccessreviews`, { method: 'POST', body: review(attributes) })).json()

  it('report the ignored parts of a review', async () => {
    const requirements = [{ key: 'a', operator: 'Exists' }, field('b', 'In', 'c')]
    const { status } = await selfReview({
      fieldSelector: { requirements },
      labelSelector: { rawSelector: 'x in (' },
    })
    const path = 'spec.resourceAttributes'
    assert.deepEqual(status, {
      allowed: true,
      reason: 'access granted',
      evaluationError: `${path}.fieldSelector partially ignored due to parse error; ${path}.labelSelector ignored due to parse error`,
    })
  })

  it('are refused when they are empty or contradictory', async () => {
    const empty = await selfReview({ fieldSelector: {} })
    assert.equal(
      empty.details?.causes?.[0]?.message,
      'Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required',
    )
    const both = await selfReview({ labelSelector: { ...labelSelector, rawSelector: 'a=b' } })
    assert.match(
      both.message ?? '',
      /rawSelector: Invalid value: "a=b": may not specified at the same time as requirements$/,
    )
    const wrong = [
      { key: '', operator: 'In' },
      { key: 'x', operator: 'Exists', values: ['a'] },
    ]
    const fields = await selfReview({ fieldSelector: { requirements: wrong } })
    assert.deepEqual(
      fields.details?.causes?.map(
        ({ field, reason }) => `${field?.replace(/^.*requirements/, '')} ${reason}`,
      ),
      ['[0].key FieldValueRequired', '[0].values FieldValueRequired', '[1].values FieldValueForbidden'],
    )
    const labels = await selfReview({ labelSelector: { requirements: [field('-', 'In', '-')] } })
    assert.deepEqual(
      labels.details?.causes?.map(cause => cause.field?.replace(/^.*requirements/, '')),
      ['[0].key', '[0].values[0]'],
    )
  })
})
