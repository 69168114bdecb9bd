import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { fixture, merge, post, put, widget } from '../../conformance/fixture.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { discard, eventually, type Oriel } from '../../support/oriel.ts'
import { startServer } from '../../support/servers/kcp.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../../support/tenants.ts'
import { configAt, userAt } from '../../support/watcher.ts'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const
type Verb = (typeof verbs)[number]
const widgets = '/apis/example.com/v1/namespaces/default/widgets'

const role = (name: string, rules: readonly object[]): KubeObject =>
  ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules,
  }) as KubeObject

/** Tries every verb on an existing widget, without changes. */
async function tried(client: Client, object: KubeObject, subresource = ''): Promise<Record<Verb, number>> {
  const status = async (path: string, sent = {}): Promise<number> => {
    const response = await client.open(path, sent)
    response.destroy()
    return response.statusCode ?? 0
  }
  const one = `${widgets}/${object.metadata.name}${subresource}`
  return {
    get: await status(one),
    list: await status(widgets),
    watch: await status(`${widgets}?watch=1`),
    create: await status(`${widgets}?dryRun=All`, post(widget('new'))),
    update: await status(`${one}?dryRun=All`, put(object)),
    patch: await status(`${one}?dryRun=All`, merge({})),
    delete: await status(`${widgets}/${object.metadata.name}?dryRun=All`, { method: 'DELETE' }),
    deletecollection: await status(`${widgets}?dryRun=All`, { method: 'DELETE' }),
  }
}

const granted = (statuses: Record<Verb, number>): readonly string[] =>
  verbs.filter(verb => statuses[verb] >= 200 && statuses[verb] < 300)

/** The assertions of kcp's TestAPIExportVirtualWorkspace, verb by verb; with KCP_BIN for kcp. */
describe('an ordinary user', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let provider: Tenant
  let consumer: Tenant
  let view: string
  let user: Client
  let object: KubeObject
  before(async () => {
    const file = join(await temporaryDirectory('verbs'), 'tokens.csv')
    await writeFile(file, 'user-token,user,1\n')
    oriel = await startServer(['--token-auth-file', file])
    ;[provider, consumer] = (await createWorkspaces(oriel, ['provider', 'consumer'])) as [Tenant, Tenant]
    const name = await exportApi(provider, fixture, [])
    await bind(consumer, bindingOf(provider, name, []))
    view = await publishedUrl(provider, name)
    user = await clientOf(userAt(oriel, oriel.url, 'user-token'))
    const admin = await clientOf(configAt(oriel, `${oriel.url}/clusters/${consumer.path}`))
    const made = await admin(widgets, post(widget('a', { color: 'red' })))
    assert.equal(made.status, 201, made.text)
    object = made.json() as KubeObject
    for (const { kubectl } of [provider, consumer]) {
      await apply(kubectl, role('user', []))
      for (const granted of ['user', 'system:kcp:workspace:access'])
        await kubectl([
          'create',
          'clusterrolebinding',
          granted.replaceAll(':', '-'),
          `--clusterrole=${granted}`,
          '--user=user',
        ])
    }
  })
  after(() => discard(oriel))

  /** Grants each verb alone and tries all of them: only that one is allowed. */
  async function exactly(
    grant: (verbs: readonly string[]) => Promise<unknown>,
    ask: () => Promise<Record<Verb, number>>,
  ): Promise<void> {
    for (const verb of verbs) {
      await grant([verb])
      const statuses = await eventually(ask, found => granted(found).join() === verb)
      for (const other of verbs)
        if (other !== verb) assert.equal(statuses[other], 403, `${other} with ${verb}`)
    }
    await grant([])
    await eventually(ask, found => granted(found).length === 0)
  }

  it('may use in a workspace the verbs of a role', async () => {
    const grant = (verbs: readonly string[]) =>
      apply(
        consumer.kubectl,
        role(
          'user',
          [{ apiGroups: ['example.com'], resources: ['widgets'], verbs }].slice(verbs.length ? 0 : 1),
        ),
      )
    await exactly(grant, () => tried(user.at(`${oriel.url}/clusters/${consumer.path}`), object))
  })

  const content = (verbs: readonly string[], more: object = {}) =>
    apply(
      provider.kubectl,
      role(
        'user',
        verbs.length
          ? [{ apiGroups: ['apis.kcp.io'], resources: ['apiexports/content'], verbs, ...more }]
          : [],
      ),
    )
  const inView = () => user.at(`${view}/clusters/${consumer.cluster}`)

  it('may use through a view the verbs of a role on its content', () =>
    exactly(content, () => tried(inView(), object)))

  it('lists and watches all of it with the same role', async () => {
    const all = user.at(`${view}/clusters/*`)
    const path = '/apis/example.com/v1/widgets'
    const refused = await all(path)
    assert.equal(refused.status, 403)
    assert.equal(
      refused.json().message,
      'widgets.example.com is forbidden: User "user" cannot list resource "widgets" in API group "example.com" at the cluster scope: access denied',
    )
    await content(['list'])
    const { items } = (
      await eventually(
        () => all(path),
        ({ status }) => status === 200,
      )
    ).json()
    assert.deepEqual(
      items?.map(item => item.metadata.name),
      ['a'],
    )
    assert.equal((await all(`${path}?watch=1`)).status, 403)
    assert.equal((await all('/apis')).status, 403, 'discovery is get')
    await content(['get'])
    await eventually(
      () => all('/apis'),
      ({ status }) => status === 200,
    )
  })

  it('requires the same verbs for a status', async () => {
    await content(['get', 'update'])
    const status = () => tried(inView(), object, '/status')
    const found = await eventually(status, ({ get, update }) => get === 200 && update === 200)
    assert.equal(found.patch, 403)
  })

  it('has no permission for one export by a role that names another', async () => {
    await content(['*'], { resourceNames: ['other'] })
    await eventually(
      () => tried(inView(), object),
      found => granted(found).length === 0,
    )
    await content(['*'], { resourceNames: ['example.com'] })
    await eventually(
      () => tried(inView(), object),
      found => granted(found).length === verbs.length,
    )
  })

  it('gets 404 only where it has permission to read', async () => {
    await content(['patch', 'get'])
    const patch = () => inView()(`${widgets}/missing`, merge({ spec: { size: 2 } }))
    await eventually(patch, ({ status }) => status === 404)
    await content([])
    const refused = await eventually(patch, ({ status }) => status === 403)
    assert.match(refused.json().message ?? '', /cannot patch resource "widgets" .*: access denied$/)
  })
})
