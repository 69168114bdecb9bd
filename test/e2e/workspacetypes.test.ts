import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../../framework/index.ts'
import { type Client, clientOf, type Reply } from '../support/client.ts'
import { startServer } from '../support/kcp.ts'
import { discard, eventually, kubectlFor, type Oriel } from '../support/oriel.ts'
import { apply, rolesFor, type Tenant } from '../support/tenants.ts'
import { configAt, userAt, watch } from '../support/watcher.ts'

const judged = process.env.KCP_BIN !== undefined
const tenancy = '/apis/tenancy.kcp.io/v1alpha1'
const org = `/clusters/root:org${tenancy}`
const universal = { with: [{ path: 'root', name: 'universal' }] }
const json = { 'content-type': 'application/json' }

interface Workspace extends KubeObject {
  readonly spec: { readonly cluster?: string; readonly URL?: string }
  readonly status: {
    readonly phase: string
    readonly initializers?: readonly string[]
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly message?: string
    }[]
  }
}
const workspace = (name: string, type?: object, spec: object = {}): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: { ...(type && { type }), ...spec },
})
const workspaceType = (name: string, spec: object = {}): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'WorkspaceType',
  metadata: { name },
  spec,
})
const here = (name: string): object => ({ path: 'root:org', name })

/** Also the judge's own: `KCP_BIN=… npx mocha …` runs it against real kcp. */
describe('workspaces and their types', function () {
  this.timeout(300_000)
  let oriel: Oriel
  let folder: string
  let tenant: Tenant
  let admin: Client
  let alice: Client
  let nobody: Client
  let master: Client

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-types-'))
    await writeFile(join(folder, 'tokens.csv'), 'alice-token,alice,1\n')
    oriel = await startServer(['--token-auth-file', join(folder, 'tokens.csv')])
    admin = await clientOf(configAt(oriel, oriel.url))
    master = await clientOf(configAt(oriel, oriel.url, 'shard-base'))
    alice = await clientOf(userAt(oriel, oriel.url, 'alice-token'))
    nobody = await clientOf(userAt(oriel, oriel.url))
    // Of a type that allows all children.
    const root = `/clusters/root${tenancy}`
    await make(workspace('org', { path: 'root', name: 'universal' }), root)
    const { spec } = await get('org', isReady, root)
    const kubectl = kubectlFor(oriel, 'root').at('/clusters/root:org')
    tenant = { path: 'root:org', cluster: spec.cluster ?? '', kubectl }
  })
  after(async () => {
    for (const client of [admin, alice, master, nobody]) client.close()
    await discard(oriel)
    await rm(folder, { recursive: true })
  })

  const post = (client: Client, path: string, body: KubeObject): Promise<Reply> =>
    client(path, { method: 'POST', headers: json, body })
  const make = (object: KubeObject, parent = org, client = admin): Promise<Reply> =>
    post(client, `${parent}/workspaces`, object)
  const define = async (name: string, spec: object = {}): Promise<void> => {
    const reply = await post(admin, `${org}/workspacetypes`, workspaceType(name, spec))
    assert.equal(reply.status, 201, reply.text)
  }
  const get = (name: string, isSo: (workspace: Workspace) => boolean, parent = org): Promise<Workspace> =>
    eventually(async () => (await admin(`${parent}/workspaces/${name}`)).json<Workspace>(), isSo, 90_000)
  const isReady = ({ status }: Workspace): boolean => status?.phase === 'Ready'
  const waitsFor =
    (type: string) =>
    ({ status }: Workspace): boolean =>
      status?.initializers?.join() === `${tenant.cluster}:${type}`
  const remove = async (path: string): Promise<void> => {
    const { status, text } = await admin(path, { method: 'DELETE' })
    assert.equal(status, 200, text)
  }
  const gone = (name: string): Promise<unknown> =>
    eventually(
      () => admin(`${org}/workspaces/${name}`),
      ({ status }) => status === 404,
      90_000,
    )
  const forbidden = (reply: Reply, resource: string, name: string, text: string): void => {
    assert.equal(reply.status, 403, reply.text)
    assert.equal(reply.json().reason, 'Forbidden')
    assert.equal(reply.json().message, `${resource}.tenancy.kcp.io "${name}" is forbidden: ${text}`)
  }

  it('are none without a type that is there', async () => {
    forbidden(
      await make(workspace('a', { name: 'nothing' })),
      'workspaces',
      'a',
      'workspace type "nothing" cannot be resolved',
    )
    const elsewhere = await make(workspace('a', { path: 'root', name: 'nothing' }))
    assert.equal(elsewhere.status, 403)
    if (!judged) assert.match(elsewhere.text, /workspace type \\"root:nothing\\" cannot be resolved/)
  })

  it('are made by those who may use the type', async () => {
    await define('closed')
    const workspaces = { apiGroups: ['tenancy.kcp.io'], resources: ['workspaces'], verbs: ['create'] }
    await apply(tenant.kubectl, ...rolesFor('alice', workspaces))
    const made = await eventually(
      () => make(workspace('mine', here('closed')), org, alice),
      ({ text }) => !/access not permitted|cannot create resource/.test(text),
    )
    forbidden(
      made,
      'workspaces',
      'mine',
      "unable to use workspace type root:org:closed: missing verb='use' permission on workspacetype",
    )
    const use = {
      apiGroups: ['tenancy.kcp.io'],
      resources: ['workspacetypes'],
      resourceNames: ['closed'],
      verbs: ['use'],
    }
    await apply(tenant.kubectl, ...rolesFor('alice', workspaces, use))
    await eventually(
      () => make(workspace('mine', here('closed')), org, alice),
      ({ status }) => status === 201,
    )
    await get('mine', isReady)
  })

  it('are where their types and those of their parents allow', async () => {
    await define('top', { limitAllowedParents: { none: true } })
    await define('leaf', { extend: universal, limitAllowedChildren: { none: true } })
    await define('picky', { limitAllowedParents: { types: [here('leaf')] } })
    forbidden(
      await make(workspace('a', here('top'))),
      'workspaces',
      'a',
      'workspace type root:org:top cannot have any parent',
    )
    forbidden(
      await make(workspace('a', here('picky'))),
      'workspaces',
      'a',
      'workspace type root:org:picky only allows [root:org:leaf] parent workspaces, but parent type root:universal ' +
        'only implements [root:universal]',
    )
    assert.equal((await make(workspace('end', here('leaf')))).status, 201)
    await get('end', isReady)
    forbidden(
      await make(workspace('a', { path: 'root', name: 'universal' }), `/clusters/root:org:end${tenancy}`),
      'workspaces',
      'a',
      'workspace type root:org:leaf cannot have any child',
    )
  })

  it('have no types that extend themselves, or what is not there', async () => {
    await define('one', { extend: { with: [here('other')] } })
    await define('other', { extend: { with: [here('one')] } })
    await define('orphan', { extend: { with: [{ name: 'nowhere' }] } })
    forbidden(
      await make(workspace('a', here('one'))),
      'workspaces',
      'a',
      'circular dependency detected in workspace type root:org:one: root:org:one -> root:org:other',
    )
    forbidden(
      await make(workspace('a', here('orphan'))),
      'workspaces',
      'a',
      'unable to find inherited workspace type nowhere',
    )
  })

  it('have no types with names that mean something else', async () => {
    for (const name of ['any', 'system']) {
      const reply = await post(admin, `${org}/workspacetypes`, workspaceType(name))
      assert.equal(reply.status, 403)
      assert.match(reply.text, /name is reserved/)
    }
    forbidden(
      await post(admin, `${org}/workspacetypes`, workspaceType('root')),
      'workspacetypes',
      'root',
      'root workspace type can only be created in root cluster',
    )
    const { status } = await post(admin, `${org}/workspaces`, workspace('system:a'))
    assert.equal(status, 422)
  })

  it('stay when their type goes, and can be deleted', async () => {
    await define('steady', { extend: universal })
    await define('passing', { extend: universal, initializer: true })
    for (const name of ['steady', 'passing'])
      assert.equal((await make(workspace(name, here(name)))).status, 201)
    await get('steady', isReady)
    const { spec } = await get('passing', waitsFor('passing'))
    for (const name of ['steady', 'passing']) await remove(`${org}/workspacetypes/${name}`)

    const again = await make(workspace('again', here('steady')))
    assert.equal(again.status, 403)
    assert.ok(isReady(await get('steady', () => true)))
    const view = `/services/initializingworkspaces/${tenant.cluster}:passing/clusters/${spec.cluster}`
    const content = await eventually(
      () => master(`${view}/api/v1/namespaces`),
      ({ status }) => status === 503,
    )
    assert.match(content.text, /WorkspaceType not found.*refusing to fall back to owner impersonation/)
    for (const name of ['steady', 'passing']) {
      await remove(`${org}/workspaces/${name}`)
      await gone(name)
    }
  })

  it('go when they are deleted while they are initialized', async () => {
    await define('slow', { extend: universal, initializer: true })
    await make(workspace('half', here('slow')))
    const { spec } = await get('half', waitsFor('slow'))
    await remove(`${org}/workspaces/half`)
    await gone('half')
    const { status } = await admin(`/clusters/${spec.cluster}/api/v1/namespaces`)
    assert.equal(status, 403)
    const view = `/services/initializingworkspaces/${tenant.cluster}:slow/clusters/*`
    const seen = await master(`${view}/apis/core.kcp.io/v1alpha1/logicalclusters`)
    assert.deepEqual(seen.json().items, [])
  })

  it('are made once when two ask at the same time', async () => {
    const replies = await Promise.all(
      [1, 2].map(() => make(workspace('twin', { path: 'root', name: 'universal' }))),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409])
    const lost = replies.find(({ status }) => status === 409)?.json()
    assert.equal(lost?.message, 'workspaces.tenancy.kcp.io "twin" already exists')
    await get('twin', isReady)
    const all = (await master('/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters')).json()
    const twins = all.items?.filter(
      ({ metadata }) => metadata.annotations?.['kcp.io/path'] === 'root:org:twin',
    )
    assert.equal(twins?.length, 1)
  })

  it('are not the system’s, for nobody outside', async () => {
    for (const cluster of ['system:admin', 'system:shard', 'system:nothing'])
      for (const [who, status] of [
        [alice, 403],
        [nobody, 401],
      ] as const) {
        const reply = await who(`/clusters/${cluster}/api/v1/namespaces`)
        if (who === nobody) assert.ok([401, 403].includes(reply.status), reply.text)
        else assert.equal(reply.status, status, reply.text)
      }
    assert.equal((await alice('/clusters/root:system:admin/api/v1/namespaces')).status, 404)
    assert.equal((await master('/clusters/system:admin/api/v1/namespaces')).status, 200)
  })

  it('have paths whose segments are neither empty nor too long', async () => {
    const long = 'a'.repeat(64)
    for (const path of ['root::org', 'root:', ':root', `root:${long}`, long, `root:org:${long}`]) {
      const reply = await admin(`/clusters/${path}/api/v1/namespaces`)
      assert.equal(reply.status, 400, `${path}: ${reply.text}`)
      assert.match(reply.text, new RegExp(`invalid cluster: .*${path}.* does not match the regex`))
    }
    const { status, text } = await admin(`/clusters/root:${long.slice(1)}/api/v1/namespaces`)
    assert.equal(status, 404, text)
    for (const name of [long, '', '-a', 'A'])
      assert.ok([404, 405, 422].includes((await make(workspace(name))).status), name)
  })

  it('pass through the phases in order, and say how far they are', async () => {
    await define('watched', { extend: universal, initializer: true })
    const watcher = await watch(configAt(oriel, `${oriel.url}/clusters/root:org`), `${tenancy}/workspaces`)
    await make(workspace('phases', here('watched')))
    const { spec } = await get('phases', waitsFor('watched'))
    const leave = {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { status: { initializers: [] } },
    }
    const view = `/services/initializingworkspaces/${tenant.cluster}:watched/clusters/${spec.cluster}`
    const left = await master(`${view}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster/status`, leave)
    assert.equal(left.status, 200, left.text)
    const { status } = await get('phases', isReady)
    for (const type of ['WorkspaceInitialized', 'WorkspaceScheduled'])
      assert.equal(status.conditions?.find(condition => condition.type === type)?.status, 'True', type)
    await watcher.next(
      ({ object }) => object.metadata?.name === 'phases' && isReady(object as unknown as Workspace),
    )
    watcher.stop()
    const phases = watcher.seen
      .filter(({ object }) => object.metadata?.name === 'phases')
      .map(({ object }) => (object as unknown as Workspace).status.phase)
    assert.deepEqual([...new Set(phases)], ['Scheduling', 'Initializing', 'Ready'])
  })

  it('say why they have no place', async () => {
    const location = { selector: { matchLabels: { tier: 'gold' } } }
    await make(workspace('nowhere', { path: 'root', name: 'universal' }, { location }))
    const { status } = await get('nowhere', w => w.status?.conditions !== undefined)
    const told = status.conditions?.find(({ type }) => type === 'WorkspaceScheduled')
    assert.equal(told?.message, 'No available shards to schedule the workspace')
    await get('nowhere', w => w.status.phase === 'Unavailable')
    const reply = await admin('/clusters/root:org:nowhere/api/v1/namespaces')
    assert.equal(reply.status, 404, reply.text)
    await remove(`${org}/workspaces/nowhere`)
    await gone('nowhere')
  })
})
