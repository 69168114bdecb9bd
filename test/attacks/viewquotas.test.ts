import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, readText } from '../support/oriel.ts'
import { type Standalone, startStandalone } from '../support/servers/standalone.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  rolesFor,
  type Tenant,
} from '../support/tenants.ts'
import { ask } from '../support/wire.ts'

const limits = [
  ...['--logical-cluster-namespace-limit', '5', '--logical-cluster-total-bytes-limit', '300Ki'],
  ...['--logical-cluster-decoded-bytes-limit', '100Ki'],
]
const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
const group = 'quotas.example.com'
const rbac = 'rbac.authorization.k8s.io'
const claims = [
  { group: '', resource: 'namespaces' },
  { group: rbac, resource: 'clusterroles' },
]

const things = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'string' } } } },
      },
    ],
  },
}
const thing = (name: string, size: number) => ({
  apiVersion: `${group}/v1`,
  kind: 'Thing',
  metadata: { name },
  spec: 'x'.repeat(size),
})
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const role = (name: string) => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  rules: [{ apiGroups: [''], resources: ['x'.repeat(10_000)], verbs: ['get'] }],
})

const paths = {
  things: `/apis/${group}/v1/things`,
  namespaces: '/api/v1/namespaces',
  roles: `/apis/${rbac}/v1/clusterroles`,
}

interface Answer {
  readonly status: number
  readonly body: string
}

describe('a provider that stores without limit in the logical cluster of its consumer', function () {
  this.timeout(120_000)
  let server: Standalone
  let ca: string
  /** The consumer's logical cluster, through the view and at the shard. */
  let [view, shard] = ['', '']

  before(async () => {
    const tokens = join(await temporaryDirectory('quotas'), 'users.csv')
    await writeFile(tokens, 'user-1-token,user-1,1\n')
    server = await startStandalone([], ['--store', 'memory:', '--token-auth-file', tokens, ...limits])
    ca = await readText(join(server.files, 'ca.crt'))
    const tenants = await createWorkspaces(server, ['provider', 'consumer'])
    const [provider, consumer] = tenants as [Tenant, Tenant]
    for (const { kubectl } of tenants) await apply(kubectl, ...rolesFor('user-1', everything))
    const name = await exportApi(provider, things, claims)
    const accepted = claims.map(claim => ({
      ...claim,
      verbs: ['*'],
      state: 'Accepted',
      selector: { matchAll: true },
    }))
    await bind(consumer, bindingOf(provider, name, accepted))
    view = `${await publishedUrl(provider, name)}/clusters/${consumer.cluster}`
    shard = `${server.url}/clusters/${consumer.cluster}`
    for (const path of Object.values(paths))
      await eventually(
        () => send(view + path, 'GET'),
        ({ status }) => status === 200,
      )
  })
  after(() => server.stop())

  const send = (url: string, method: string, object?: object, type = 'application/json'): Promise<Answer> => {
    const headers = { authorization: 'Bearer user-1-token', 'content-type': type }
    return ask('HTTP/2', url, { ca, method, headers, ...(object && { body: JSON.stringify(object) }) })
  }

  /** Creates objects through the view until one is refused; returns their number. */
  async function exhaust(path: string, make: (name: string) => object): Promise<number> {
    for (let created = 0; created < 50; created++) {
      const { status, body } = await send(view + path, 'POST', make(`n-${created}`))
      if (status !== 201) {
        assert.equal(status, 403, body)
        return created
      }
    }
    throw new Error('there is no limit')
  }

  /** The Status of the view, which must be that of the shard. */
  async function refused(path: string, method: string, object: object, type?: string): Promise<string> {
    const [through, direct] = [
      await send(view + path, method, object, type),
      await send(shard + path, method, object, type),
    ]
    assert.equal(direct.status, 403, direct.body)
    assert.deepEqual([through.status, JSON.parse(through.body)], [403, JSON.parse(direct.body)])
    return JSON.parse(direct.body).message
  }

  it('is limited in namespaces, with the Status of the shard', async () => {
    await exhaust(paths.namespaces, namespace)
    assert.match(
      await refused(paths.namespaces, 'POST', namespace('more')),
      /reached its limit of namespaces \(5\/5\)/,
    )
  })

  it('is limited in what the shard keeps decoded, with the Status of the shard', async () => {
    await exhaust(paths.roles, role)
    assert.match(
      await refused(paths.roles, 'POST', role('more')),
      /reached its limit of bytes of definitions, RBAC objects/,
    )
  })

  it('is limited in bytes by creates, updates, patches and applies, with the Status of the shard', async () => {
    const created = await exhaust(paths.things, name => thing(name, 40_000))
    assert.ok(created > 1, `${created} objects were created`)
    const text = /reached its limit of bytes \(\d+\/307200\); delete objects/
    const one = `${paths.things}/n-0`
    const grown = { spec: 'x'.repeat(90_000) }
    const operations = [{ op: 'replace', path: '/spec', value: grown.spec }]
    const { metadata } = JSON.parse((await send(view + one, 'GET')).body)
    const applied = `${one}?fieldManager=m&force=true`
    assert.match(await refused(paths.things, 'POST', thing('more', 90_000)), text)
    assert.match(await refused(one, 'PUT', { ...thing('n-0', 90_000), metadata }), text)
    assert.match(await refused(one, 'PATCH', grown, 'application/merge-patch+json'), text)
    assert.match(await refused(one, 'PATCH', operations, 'application/json-patch+json'), text)
    assert.match(await refused(applied, 'PATCH', thing('n-0', 90_000), 'application/apply-patch+yaml'), text)
    const fresh = `${paths.things}/fresh?fieldManager=m`
    assert.match(await refused(fresh, 'PATCH', thing('fresh', 90_000), 'application/apply-patch+yaml'), text)
    assert.equal((await send(view + one, 'DELETE')).status, 200)
    assert.equal((await send(view + paths.things, 'POST', thing('again', 30_000))).status, 201)
  })
})
