import assert from 'node:assert/strict'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../../framework/index.ts'
import { fixture, jsonPatch, merge, post, put, widget } from '../conformance/fixture.ts'
import { type Client, clientOf, type Reply, type Sent } from '../support/client.ts'
import { discard, eventually, type Oriel, startOriel } from '../support/oriel.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../support/tenants.ts'
import { configAt, userAt } from '../support/watcher.ts'

const tokens = 'mallory-token,mallory,1\nprovider-token,provider,2\nbob-token,bob,3\n'
const hush = 'aHVzaC1odXNo'
const secrets = '/api/v1/namespaces/default/secrets'
const configMaps = '/api/v1/namespaces/default/configmaps'
const widgets = '/apis/example.com/v1/namespaces/default/widgets'
const exported = '/apis/apis.kcp.io/v1alpha2'
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const identityLabel = 'internal.apis.kcp.io/export'
const claimedPrefix = 'claimed.internal.apis.kcp.io/'

const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'hush', namespace: 'default' },
  data: { word: hush },
}
const configMap = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels },
  data: { word: hush },
})
const binding = (name: string, path: string, of = fixture.metadata.name?.replace('widgets.', '') ?? '') => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name },
  spec: { reference: { export: { path, name: of } } },
})
const claim = (selector: object, verbs: readonly string[] = ['*']) => ({
  group: '',
  resource: 'configmaps',
  verbs,
  selector,
  state: 'Accepted',
})

/** Mallory administers one workspace, `lair`. A provider's export is bound in `victim`, which has shared one config map. */
describe('an attacker with one workspace', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let admin: Client
  let mallory: Client
  let nobody: Client
  let lair: Tenant
  let victim: Tenant
  let provider: Tenant
  let identity: string
  let view: string

  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'oriel-attacks-'))
    const file = join(directory, 'tokens.csv')
    await writeFile(file, tokens)
    oriel = await startOriel({ directory, args: ['--token-auth-file', file, '--store', 'memory:'] })
    admin = await clientOf(configAt(oriel, oriel.url))
    mallory = await clientOf(userAt(oriel, oriel.url, 'mallory-token'))
    nobody = await clientOf(userAt(oriel, oriel.url))
    const tenants = await createWorkspaces(oriel, ['lair', 'victim', 'provider'])
    ;[lair, victim, provider] = tenants as [Tenant, Tenant, Tenant]
    await lair.kubectl([
      'create',
      'clusterrolebinding',
      'mallory',
      '--clusterrole=cluster-admin',
      '--user=mallory',
    ])
    const name = await exportApi(provider, fixture, [{ group: '', resource: 'configmaps' }])
    await bind(
      victim,
      bindingOf(provider, name, [claim({ matchLabels: { shared: 'yes' } }, ['get', 'list', 'watch'])]),
    )
    await apply(victim.kubectl, secret, configMap('open', { shared: 'yes' }), configMap('closed'))
    await apply(victim.kubectl, { ...widget('hush'), metadata: { name: 'hush', namespace: 'default' } })
    identity = await provider.kubectl(['get', 'apiexport', name, '-o', 'jsonpath={.status.identityHash}'])
    view = new URL(await publishedUrl(provider, name)).pathname
  })
  after(() => discard(oriel))

  const at = (tenant: Tenant) => `/clusters/${tenant.cluster}`
  const text = ({ text }: Reply): string => text
  const refused = (reply: Reply, code = 403): void => {
    assert.equal(reply.status, code, reply.text.slice(0, 400))
    assert.ok(!reply.text.includes(hush))
  }
  const done = (reply: Reply, code = 200): Reply => {
    assert.equal(reply.status, code, reply.text.slice(0, 400))
    return reply
  }

  describe('reaches other logical clusters', () => {
    it('by no way of writing their URL', async () => {
      const { cluster } = victim
      const ways = [
        at(victim),
        '/clusters/root:victim',
        '/clusters/root%3Avictim',
        `/clusters/root:lair/../${cluster}`,
        `/clusters/root:lair/%2e%2e/${cluster}`,
        `/clusters/root:lair/..%2f${cluster}`,
        `/clusters/root:lair%2f..%2f${cluster}`,
        `/clusters/root:lair/clusters/${cluster}`,
        `//clusters/${cluster}`,
        `/clusters//${cluster}`,
        `/./clusters/${cluster}`,
        `/clusters/${cluster}%00`,
        `/clusters/${cluster.toUpperCase()}`,
        `/clusters/${lair.cluster},${cluster}`,
        '/clusters/*',
        '/clusters/%2A',
        '/clusters/**',
        '',
        '/clusters/system:admin',
        '/clusters/system:bound-crds',
        '/clusters/root',
        `/services/apiexport/${lair.cluster}/none/clusters/${cluster}`,
        `/services/apiexport/${lair.cluster}/none/clusters/*`,
        `${view}/clusters/${cluster}`,
        `${view}/clusters/*`,
        `/services/apiexport/${lair.cluster}/../${provider.cluster}/example.com/clusters/*`,
      ]
      for (const way of ways)
        for (const path of [
          secrets,
          `${secrets}/hush`,
          '/api/v1/secrets',
          '/api/v1/secrets?watch=1',
          configMaps,
          widgets,
        ]) {
          const reply = await mallory(way + path)
          assert.ok([400, 403, 404].includes(reply.status), `${way}${path}: ${reply.status}`)
          assert.ok(!text(reply).includes(hush), way)
        }
    })

    it('with no method', async () => {
      const before = (await admin(`${at(victim)}${secrets}/hush`)).text
      const path = `${at(victim)}${secrets}`
      const tries: readonly [string, Sent][] = [
        [path, post({ ...secret, metadata: { name: 'mine' } })],
        [`${path}/hush`, put(secret)],
        [`${path}/hush`, merge({ data: { word: '' } })],
        [`${path}/hush`, jsonPatch([{ op: 'remove', path: '/data' }])],
        [`${path}/hush`, { method: 'DELETE' }],
        [path, { method: 'DELETE' }],
        [`${path}?dryRun=All`, post({ ...secret, metadata: { name: 'mine' } })],
      ]
      for (const [url, sent] of tries) refused(await mallory(url, sent))
      assert.equal((await admin(`${at(victim)}${secrets}/hush`)).text, before)
    })

    it('by no answer that tells whether something is there', async () => {
      const shape = async (url: string, sent?: Sent) => {
        const { status, text } = await mallory(url, sent)
        return `${status} ${text}`
      }
      const inner = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: 'inner' } }
      await apply(victim.kubectl, inner)
      await victim.kubectl(['wait', '--for=jsonpath={.status.phase}=Ready', 'workspace/inner'])
      const unknown = '/services/apiexport/0123456789abcdef/nothing/clusters'
      const pairs: readonly [string, string][] = [
        [`${at(victim)}${secrets}`, `/clusters/0123456789abcdef${secrets}`],
        [`/clusters/root:victim:inner${secrets}`, `/clusters/root:victim:nothing${secrets}`],
        ['/clusters/root:victim:inner/apis', '/clusters/root:victim:nothing/apis'],
        [`/clusters/root:victim:inner${secrets}`, `/clusters/root:victim:nothing:at:all${secrets}`],
        [`${at(victim)}${widgets}`, `/clusters/root:victim:inner${widgets}`],
        [
          `${view}/clusters/*${widgets}`,
          `/services/apiexport/${provider.cluster}/nothing/clusters/*${widgets}`,
        ],
        [`${view}/clusters/*${widgets}`, `${unknown}/*${widgets}`],
        [`${view}/clusters/${victim.cluster}${widgets}`, `${view}/clusters/0123456789abcdef${widgets}`],
      ]
      for (const [there, nowhere] of pairs) assert.equal(await shape(there), await shape(nowhere), nowhere)
      const create = (path: string, of: string) =>
        mallory(`${at(lair)}${exported}/apibindings`, post(binding('x', path, of)))
      const words = async (path: string, of: string) =>
        (await create(path, of)).text.replaceAll(`${path}:${of}`, 'it')
      assert.equal(await words('root:provider', 'example.com'), await words('root:provider', 'nothing'))
      assert.equal(await words('root:provider', 'example.com'), await words('root:nothing', 'nothing'))
    })

    it('by no identity of an API', async () => {
      for (const url of [
        `${at(lair)}/apis/example.com/v1/widgets:${identity}`,
        `/clusters/*/apis/example.com/v1/widgets:${identity}`,
        `${at(victim)}/apis/example.com/v1/widgets:${identity}`,
        `/apis/example.com/v1/widgets:${identity}`,
        `${at(lair)}/apis/example.com/v1/namespaces/default/widgets:${identity}/hush`,
        `${at(lair)}/api/v1/secrets:${identity}`,
      ])
        for (const more of ['', '?watch=1']) {
          const reply = await mallory(url + more)
          assert.ok([403, 404].includes(reply.status), `${url}: ${reply.status}`)
        }
    })
  })

  describe('becomes nobody else', () => {
    const whoami = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const review = post({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
    const forged = {
      'x-remote-user': 'kcp-admin',
      'x-remote-group': 'system:masters',
      'x-remote-uid': '0',
      'x-remote-extra-authorization.kcp.io%2fwarrant': JSON.stringify({
        user: 'a',
        groups: ['system:masters'],
      }),
    }

    it('by the headers of a front proxy', async () => {
      const reply = await mallory(at(lair) + whoami, { ...review, headers: forged })
      const { status } = done(reply, 201).json<{
        status: { userInfo: { username: string; groups: string[] } }
      }>()
      assert.deepEqual(
        [status.userInfo.username, status.userInfo.groups],
        ['mallory', ['system:authenticated']],
      )
      refused(await mallory(`${at(victim)}${secrets}`, { headers: forged }))
      for (const path of [at(lair), at(victim), ''])
        refused(await nobody(path + secrets, { headers: forged }))
    })

    const impersonations: readonly Readonly<Record<string, string | readonly string[]>>[] = [
      { 'impersonate-user': 'kcp-admin' },
      { 'impersonate-user': 'mallory', 'impersonate-group': 'system:masters' },
      { 'impersonate-user': 'mallory', 'impersonate-group': ['system:kcp:admin', 'system:authenticated'] },
      { 'impersonate-user': 'system:kcp:external-logical-cluster-admin' },
      { 'impersonate-user': 'system:serviceaccount:default:default' },
      { 'impersonate-group': 'system:masters' },
      {
        'impersonate-user': 'mallory',
        'impersonate-extra-authorization.kcp.io%2fwarrant': JSON.stringify({
          user: 'a',
          groups: ['system:masters'],
        }),
      },
      {
        'impersonate-user': 'mallory',
        'impersonate-extra-authentication.kcp.io%2fscopes': 'cluster:',
        'impersonate-extra-authentication.kcp.io%2fcluster-name': 'root',
      },
    ]

    it('elsewhere by impersonation', async () => {
      for (const headers of impersonations) {
        for (const url of [
          `${at(victim)}${secrets}`,
          `/clusters/*/api/v1/secrets`,
          `${view}/clusters/*${widgets}`,
        ]) {
          const reply = await mallory(url, { headers })
          assert.ok([400, 403].includes(reply.status), `${url} ${JSON.stringify(headers)}: ${reply.status}`)
        }
        assert.ok([400, 401, 403].includes((await nobody(at(lair) + secrets, { headers })).status))
      }
    })

    it('by impersonation at home for what is decided elsewhere', async () => {
      for (const headers of impersonations) {
        const sent = post(binding('other', provider.path), headers as Record<string, string>)
        const reply = await mallory(`${at(lair)}${exported}/apibindings`, sent)
        assert.ok(
          [400, 403].includes(reply.status),
          `${JSON.stringify(headers)}: ${reply.text.slice(0, 300)}`,
        )
      }
    })

    it('by a bad token, which is not nobody either', async () => {
      const forger = await clientOf(userAt(oriel, oriel.url, 'mallory-token2'))
      for (const url of [at(lair) + secrets, `${at(lair)}/version`, '/apis']) refused(await forger(url), 401)
    })
  })

  describe('is shown no objects of others through a view', () => {
    it('by an export of the same API', async () => {
      const schemaAndExport = await exportApi(lair, fixture, [
        { group: '', resource: 'secrets' },
        { group: '', resource: 'configmaps' },
      ])
      await bind(lair, bindingOf(lair, schemaAndExport, []))
      const own = new URL(await publishedUrl(lair, schemaAndExport)).pathname
      for (const path of ['/apis/example.com/v1/widgets', '/api/v1/secrets', '/api/v1/configmaps']) {
        const { items = [] } = done(await mallory(`${own}/clusters/*${path}`)).json()
        assert.deepEqual(
          items.filter(item => item.metadata.annotations?.['kcp.io/cluster'] !== lair.cluster),
          [],
        )
        refused(await mallory(`${own}/clusters/${victim.cluster}${path}`))
      }
    })

    it('by an identity that is written into a status', async () => {
      const status = { status: { identityHash: identity } }
      refused(await mallory(`${at(lair)}${exported}/apiexports/example.com/status`, merge(status)))
      done(await mallory(`${at(lair)}${exported}/apiexports/example.com`, merge(status)))
      const { status: kept } = done(await mallory(`${at(lair)}${exported}/apiexports/example.com`)).json()
      assert.notEqual((kept as { identityHash: string }).identityHash, identity)
    })

    it('by a claim by identity that nobody has accepted', async () => {
      const url = `${at(lair)}${exported}/apiexports/example.com`
      const permissionClaims = [
        { group: 'example.com', resource: 'widgets', identityHash: identity, verbs: ['*'] },
      ]
      done(await mallory(url, merge({ spec: { resources: [], permissionClaims } })))
      const own = `/services/apiexport/${lair.cluster}/example.com/clusters`
      const reply = await eventually(
        () => mallory(`${own}/*/apis/example.com/v1/widgets`),
        ({ status, text }) => status !== 200 || !text.includes('"hush"'),
      )
      assert.ok(!reply.text.includes(victim.cluster), reply.text)
      refused(await mallory(`${own}/${victim.cluster}${widgets}`))
    })
  })

  describe('puts nothing into the view of others', () => {
    const seen = async (): Promise<readonly string[]> => {
      const lists = await Promise.all(
        ['/apis/example.com/v1/widgets', '/api/v1/configmaps', `${exported}/apibindings`].map(
          async path => done(await admin(`${view}/clusters/*${path}`)).json().items ?? [],
        ),
      )
      return lists
        .flat()
        .map(item => `${item.kind} ${item.metadata.annotations?.['kcp.io/cluster']}/${item.metadata.name}`)
    }
    let expected: readonly string[]
    before(async () => {
      expected = await seen()
    })
    afterEach(async () => assert.deepEqual(await seen(), expected))

    it('by labels that belong to the server', async () => {
      const shared =
        (await admin(`${view}/clusters/*/api/v1/configmaps`)).json().items?.[0]?.metadata.labels ?? {}
      const stolen = Object.fromEntries(
        Object.entries(shared).filter(([key]) => key.startsWith(claimedPrefix)),
      )
      assert.equal(Object.keys(stolen).length, 1)
      const made = done(
        await mallory(`${at(lair)}${configMaps}`, post(configMap('forged', stolen))),
        201,
      ).json()
      assert.deepEqual(made.metadata.labels ?? {}, {})
      const url = `${at(lair)}${configMaps}/forged`
      assert.deepEqual(
        done(await mallory(url, merge({ metadata: { labels: stolen } }))).json().metadata.labels ?? {},
        {},
      )
      const operation = { op: 'add', path: '/metadata/labels', value: stolen }
      assert.deepEqual(done(await mallory(url, jsonPatch([operation]))).json().metadata.labels ?? {}, {})
    })

    it('by the label that binds a binding to an export', async () => {
      const ours = (await admin(`${at(victim)}${exported}/apibindings/example.com`)).json().metadata.labels
      const label = ours?.[identityLabel] ?? ''
      assert.notEqual(label, '')
      const url = `${at(lair)}${exported}/apibindings/example.com`
      const reply = await mallory(url, merge({ metadata: { labels: { [identityLabel]: label } } }))
      assert.ok(reply.status !== 200 || reply.json().metadata.labels?.[identityLabel] !== label, reply.text)
    })

    it('by the annotation that says where an object lives', async () => {
      const annotations = { 'kcp.io/cluster': victim.cluster }
      const forged = {
        ...configMap('elsewhere', { shared: 'yes' }),
        metadata: { name: 'elsewhere', annotations },
      }
      const made = done(await mallory(`${at(lair)}${configMaps}`, post(forged)), 201).json()
      assert.equal(made.metadata.annotations?.['kcp.io/cluster'], lair.cluster)
      const url = `${at(lair)}${configMaps}/elsewhere`
      const patched = done(await mallory(url, merge({ metadata: { annotations } }))).json()
      assert.equal(patched.metadata.annotations?.['kcp.io/cluster'], lair.cluster)
      refused(await admin(`${at(victim)}${configMaps}/elsewhere`), 404)
    })

    it('by what a binding says about itself', async () => {
      const url = `${at(lair)}${exported}/apibindings/example.com`
      const { status } = (await admin(`${at(victim)}${exported}/apibindings/example.com`)).json()
      refused(await mallory(`${url}/status`, merge({ status })))
      done(await mallory(url, merge({ status })))
      const path = { reference: { export: { path: provider.path, name: 'example.com' } } }
      const moved = await mallory(url, merge({ spec: path }))
      assert.ok([403, 422].includes(moved.status), moved.text)
      refused(await mallory(`${at(lair)}${exported}/apibindings`, post(binding('second', provider.path))))
    })
  })

  describe('as a provider', () => {
    let user: Client
    before(async () => {
      user = await clientOf(userAt(oriel, oriel.url, 'provider-token'))
      await provider.kubectl([
        'create',
        'clusterrole',
        'content',
        '--verb=*',
        '--resource=apiexports.apis.kcp.io/content',
      ])
      for (const role of ['content', 'system:kcp:workspace:access'])
        await provider.kubectl([
          'create',
          'clusterrolebinding',
          role.replaceAll(':', '-'),
          `--clusterrole=${role}`,
          '--user=provider',
        ])
    })
    const there = () => `${view}/clusters/${victim.cluster}`

    it('sees what is shared and nothing more', async () => {
      const { items = [] } = done(await user(`${view}/clusters/*/api/v1/configmaps`)).json()
      assert.deepEqual(
        items.map(item => item.metadata.name),
        ['open'],
      )
      for (const path of [`${configMaps}/closed`, `${configMaps}/kube-root-ca.crt`])
        refused(await user(there() + path), 404)
      for (const path of [secrets, '/api/v1/namespaces', `${rbac}/clusterroles`, '/api/v1/secrets'])
        refused(await user(there() + path))
      for (const selector of ['shared!=yes', '!shared', 'shared notin (yes)', `${claimedPrefix}x`]) {
        const { items } = done(
          await user(`${there()}${configMaps}?labelSelector=${encodeURIComponent(selector)}`),
        ).json()
        assert.deepEqual(items, [], selector)
      }
    })

    it('does with it what the consumer has accepted and nothing more', async () => {
      const tries: readonly [string, Sent][] = [
        [configMaps, post(configMap('new', { shared: 'yes' }))],
        [`${configMaps}/open`, merge({ data: { word: '' } })],
        [`${configMaps}/closed`, merge({ metadata: { labels: { shared: 'yes' } } })],
        [`${configMaps}/open`, { method: 'DELETE' }],
        [configMaps, { method: 'DELETE' }],
        [`${exported}/apibindings/example.com`, merge({ spec: { permissionClaims: [] } })],
        [`${exported}/apibindings/example.com/status`, merge({ status: {} })],
      ]
      for (const [path, sent] of tries) {
        const reply = await user(there() + path, sent)
        assert.ok(
          [403, 404, 405].includes(reply.status),
          `${sent.method} ${path}: ${reply.text.slice(0, 300)}`,
        )
      }
    })

    it('enters no other way', async () => {
      for (const url of [
        `${at(victim)}${widgets}`,
        `${at(victim)}${configMaps}`,
        `/clusters/*/apis/example.com/v1/widgets:${identity}`,
      ])
        refused(await user(url))
      refused(await user(`${view}/clusters/${lair.cluster}${widgets}`))
      refused(await user(`${view}/clusters/root${configMaps}`))
    })

    it('has no rights of the view’s own behind it', async () => {
      const headers = { 'impersonate-user': 'kcp-admin', 'impersonate-group': 'system:masters' }
      for (const cluster of ['*', victim.cluster])
        refused(await user(`${view}/clusters/${cluster}/api/v1/configmaps`, { headers }))
    })
  })

  describe('takes nothing from the system', () => {
    const workspaces = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
    const logicalClusters = '/apis/core.kcp.io/v1alpha1/logicalclusters'
    const workspace = (name: string, spec: object = {}, annotations: object = {}): KubeObject =>
      ({
        apiVersion: 'tenancy.kcp.io/v1alpha1',
        kind: 'Workspace',
        metadata: { name, annotations },
        spec,
      }) as KubeObject

    it('by a workspace that points at a logical cluster which exists', async () => {
      const spec = { cluster: victim.cluster, URL: `${oriel.url}${at(victim)}` }
      const adopted = await mallory(at(lair) + workspaces, post(workspace('adopted', spec)))
      assert.ok([403, 422].includes(adopted.status), adopted.text)
      done(await mallory(at(lair) + workspaces, post(workspace('own'))), 201)
      const moved = await mallory(`${at(lair)}${workspaces}/own`, merge({ spec }))
      assert.ok([403, 422].includes(moved.status), moved.text)
      const status = await mallory(
        `${at(lair)}${workspaces}/own/status`,
        merge({ status: { phase: 'Ready' } }),
      )
      refused(status)
    })

    it('by a workspace that says who owns it', async () => {
      const owner = JSON.stringify({ username: 'kcp-admin', groups: ['system:masters'] })
      const annotations = { 'experimental.tenancy.kcp.io/owner': owner }
      const reply = await mallory(at(lair) + workspaces, post(workspace('owned', {}, annotations)))
      const kept = reply.json().metadata?.annotations?.['experimental.tenancy.kcp.io/owner'] ?? '{}'
      assert.ok(reply.status === 403 || JSON.parse(kept).username === 'mallory', reply.text)
    })

    it('by logical clusters', async () => {
      const made = {
        apiVersion: 'core.kcp.io/v1alpha1',
        kind: 'LogicalCluster',
        metadata: { name: 'cluster' },
        spec: {},
      }
      for (const body of [made, { ...made, metadata: { name: 'other' } }]) {
        const reply = await mallory(at(lair) + logicalClusters, post(body))
        assert.ok([403, 409, 422].includes(reply.status), reply.text)
      }
      const url = `${at(lair)}${logicalClusters}/cluster`
      const before = done(await mallory(url)).json()
      const changes: readonly object[] = [
        { metadata: { annotations: { 'kcp.io/path': 'root:victim' } } },
        { metadata: { annotations: { 'kcp.io/shard': 'other', 'core.kcp.io/shard': 'other' } } },
        {
          spec: {
            owner: { cluster: 'root', name: 'victim', uid: 'x', apiVersion: 'v1', resource: 'workspaces' },
          },
        },
        { spec: { initializers: [] } },
      ]
      for (const change of changes) await mallory(url, merge(change))
      refused(await mallory(`${url}/status`, merge({ status: { phase: 'Initializing' } })))
      refused(await mallory(url, { method: 'DELETE' }))
      const { metadata, status } = done(await mallory(url)).json()
      assert.equal(metadata.annotations?.['kcp.io/path'], 'root:lair')
      assert.equal(metadata.annotations?.['kcp.io/shard'], undefined)
      assert.equal(metadata.annotations?.['core.kcp.io/shard'], 'root')
      assert.deepEqual(status, before.status)
      assert.equal(
        (await admin(`/clusters/root:victim${secrets}/hush`)).json().metadata.annotations?.['kcp.io/cluster'],
        victim.cluster,
      )
    })

    it('by definitions of its own kinds', async () => {
      for (const [group, plural] of [
        ['apis.kcp.io', 'apibindings'],
        ['core.kcp.io', 'logicalclusters'],
        ['tenancy.kcp.io', 'workspaces'],
        ['rbac.authorization.k8s.io', 'clusterroles'],
        ['apiextensions.k8s.io', 'customresourcedefinitions'],
      ] as const) {
        const { names, ...spec } = fixture.spec as { names: { plural: string } }
        const body = {
          ...fixture,
          metadata: {
            name: `${plural}.${group}`,
            annotations: { 'api-approved.kubernetes.io': 'unapproved' },
          },
          spec: { ...spec, group, names: { ...names, plural } },
        }
        const reply = await mallory(
          `${at(lair)}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`,
          post(body),
        )
        const roles = await mallory(`${at(lair)}${rbac}/clusterroles`)
        assert.equal(roles.status, 200)
        assert.equal(roles.json().items?.[0]?.kind ?? 'ClusterRole', 'ClusterRole')
        assert.equal(reply.status, group === 'apis.kcp.io' ? 403 : 201, reply.text)
      }
    })

    it('by roles that gather the rules of others', async () => {
      const bob = await clientOf(userAt(oriel, oriel.url, 'bob-token'))
      const role = (name: string, more: object) => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name },
        ...more,
      })
      const rules = [
        {
          apiGroups: ['rbac.authorization.k8s.io'],
          resources: ['clusterroles'],
          verbs: ['get', 'create', 'update', 'patch'],
        },
        { nonResourceURLs: ['/'], verbs: ['access'] },
      ]
      done(await mallory(`${at(lair)}${rbac}/clusterroles`, post(role('bob', { rules }))), 201)
      await lair.kubectl(['create', 'clusterrolebinding', 'bob', '--clusterrole=bob', '--user=bob'])
      const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }
      const create = (body: object) => bob(`${at(lair)}${rbac}/clusterroles`, post(body))
      refused(await create(role('gathering', { aggregationRule, rules: [] })))
      refused(await create(role('all', { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] })))
      refused(
        await bob(
          `${at(lair)}${rbac}/clusterroles/bob`,
          merge({ rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }),
        ),
      )
      refused(await bob(`${at(lair)}${rbac}/clusterroles/bob`, merge({ aggregationRule })))
      refused(await bob(`${at(lair)}${secrets}`))
    })

    it('by keys of identities', async () => {
      for (const tenant of [provider, victim])
        refused(await mallory(`${at(tenant)}/api/v1/namespaces/kcp-system/secrets`))
      const { items = [] } = done(await mallory(`${at(lair)}/api/v1/namespaces/kcp-system/secrets`)).json()
      for (const item of items) assert.equal(item.metadata.annotations?.['kcp.io/cluster'], lair.cluster)
    })

    it('by exports of built-in kinds', async () => {
      const schema = (group: string, plural: string, kind: string) => ({
        apiVersion: 'apis.kcp.io/v1alpha1',
        kind: 'APIResourceSchema',
        metadata: {
          name: `v2.${plural}.${group || 'core'}`,
          annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/1' },
        },
        spec: {
          group,
          names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
          scope: 'Namespaced',
          versions: [{ name: 'v1', served: true, storage: true, schema: open }],
        },
      })
      const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
      const greedy = [
        schema('', 'secrets', 'Secret'),
        schema('authorization.k8s.io', 'localsubjectaccessreviews', 'LocalSubjectAccessReview'),
      ]
      for (const body of greedy) {
        const { group, names } = body.spec
        const url = `/clusters/${provider.cluster}${exported}/apiexports/example.com`
        done(
          await admin(
            `/clusters/${provider.cluster}/apis/apis.kcp.io/v1alpha1/apiresourceschemas`,
            post(body),
          ),
          201,
        )
        const storage = { crd: {} }
        const resource = { group, name: names.plural, schema: body.metadata.name, storage }
        done(await admin(url, jsonPatch([{ op: 'add', path: '/spec/resources/-', value: resource }])))
      }
      const word = post({ ...secret, metadata: { name: 'later' } })
      done(await admin(at(victim) + secrets, word), 201)
      const { items } = done(await admin(`${view}/clusters/*/api/v1/secrets`)).json()
      assert.deepEqual(items, [])
      const review = post({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'LocalSubjectAccessReview',
        metadata: { namespace: 'default' },
        spec: { user: 'x', resourceAttributes: { verb: 'get', resource: 'secrets', namespace: 'default' } },
      })
      const path = '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews'
      const { status } = done(await admin(at(victim) + path, review), 201).json()
      assert.equal((status as { allowed: boolean }).allowed, false)
    })
  })

  describe('does not stop the server', () => {
    const target = () => `${at(lair)}${configMaps}`
    const yaml = { 'content-type': 'application/yaml' }
    const levels = (open: string, close: string, count: number) =>
      `${open.repeat(count)}1${close.repeat(count)}`
    const letters = 'abcdefghijklmnop'
    const bomb = [...letters]
      .map(
        (l, i) =>
          `${l}: &${l} [${Array(9)
            .fill(i ? `*${letters[i - 1]}` : 'x')
            .join(',')}]`,
      )
      .join('\n')
    const bodies: Readonly<Record<string, Sent>> = {
      'a body that is too long': post('x'.repeat(4_000_000)),
      'a body without a length': {
        ...post(JSON.stringify({ data: { a: 'x'.repeat(4_000_000) } }), { 'transfer-encoding': 'chunked' }),
      },
      'deep objects': post(levels('{"a":', '}', 100_000)),
      'deep lists': post(levels('[', ']', 500_000)),
      'deep YAML': post(levels('{a: ', '}', 50_000), yaml),
      'deep YAML lists': post(levels('- ', '', 50_000), yaml),
      'a YAML bomb': post(bomb, yaml),
      'a YAML alias of itself': post('a: &a [*a]', yaml),
      'a YAML key of a list': post('? [a, b]\n: c', yaml),
      'YAML with a tag': post('a: !!js/function "function(){}"', yaml),
      'many documents': post('a: 1\n---\n'.repeat(10_000), yaml),
      'many keys': post(
        JSON.stringify({
          ...configMap('keys'),
          spec: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i])),
        }),
      ),
      'a long number': post(`{"metadata":{"name":"n"},"data":${'9'.repeat(1_000_000)}}`),
      'many operations': jsonPatch(
        Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/metadata', value: {} })),
      ),
      'copies of copies': jsonPatch([
        { op: 'add', path: '/data/a', value: 'x'.repeat(100_000) },
        ...Array.from({ length: 100 }, (_, i) => ({
          op: 'copy',
          from: '/data',
          path: `/metadata/annotations/a${i}`,
        })),
      ]),
    }
    for (const [name, sent] of Object.entries(bodies))
      it(`with ${name}`, async () => {
        const url = sent.method === 'PATCH' ? `${target()}/kube-root-ca.crt` : target()
        const reply = await mallory(url, sent)
        assert.ok(reply.status < 500, `${reply.status} ${reply.text.slice(0, 300)}`)
        done(await mallory(target()))
      })

    it('with names that JavaScript knows', async () => {
      const names = ['constructor', 'prototype', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']
      for (const name of names) {
        for (const url of [
          `/services/${name}/a/b/clusters/*/api`,
          `/services/apiexport/${name}/${name}/clusters/*/apis`,
          `/clusters/${name}/api`,
          `${at(lair)}/apis/${name}/v1/${name}`,
          `${at(lair)}/api/${name}/configmaps`,
          `${at(lair)}/api/v1/${name}`,
          `${target()}/${name}`,
          `${target()}/kube-root-ca.crt/${name}`,
          `${target()}?fieldSelector=${name}%3D1`,
          `${at(lair)}/openapi/v3/apis/${name}/v1`,
          `${at(lair)}/apis/${name}`,
          `/${name}`,
        ]) {
          const { status, text } = await mallory(url)
          assert.ok(status >= 400 && status < 500, `${url}: ${status} ${text.slice(0, 200)}`)
        }
        const listed = await mallory(`${target()}?labelSelector=${name}%3D1&${name}=1`)
        assert.ok(listed.status < 500, listed.text)
      }
      const data = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}')
      const body = JSON.stringify({ ...configMap('constructor'), data })
      assert.deepEqual(
        Object.entries(done(await mallory(target(), post(body)), 201).json().data as object),
        Object.entries(data),
      )
      const patch = '{"data":{"__proto__":"d"},"metadata":{"annotations":{"__proto__":"e"}}}'
      const reply = await mallory(`${target()}/constructor`, { ...merge({}), body: patch })
      assert.ok(reply.status === 200 || reply.status === 422, reply.text)
      const other = done(await mallory(target(), post(configMap('plain'))), 201).json()
      assert.deepEqual(
        [other.data, other.metadata.annotations],
        [{ word: hush }, { 'kcp.io/cluster': lair.cluster }],
      )
    })

    it('with long URLs, many parameters and many headers', async () => {
      const tries: readonly (() => Promise<Reply>)[] = [
        () => mallory(`${target()}?${'a'.repeat(100_000)}`),
        () => mallory(`${target()}?${'labelSelector=a&'.repeat(700)}`),
        () => mallory(`${target()}?labelSelector=${'a,'.repeat(5_000)}`),
        () => mallory(`${target()}?labelSelector=${encodeURIComponent('('.repeat(3_000))}`),
        () => mallory(`${target()}?fieldSelector=${'metadata.name%3Da,'.repeat(500)}`),
        () => mallory(`${target()}${'/a'.repeat(5_000)}`),
        () => mallory(target(), { headers: { accept: `${'application/x;a=b,'.repeat(500)}*/*` } }),
        () => mallory(target(), { headers: { accept: 'a/b;'.repeat(2_000) } }),
        () =>
          mallory(target(), {
            headers: Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`x-${i}`, 'a'])),
          }),
        () => mallory(target(), { headers: { 'audit-id': 'a'.repeat(10_000) } }),
      ]
      for (const attempt of tries) {
        const status = await attempt().then(
          reply => reply.status,
          error => (error as NodeJS.ErrnoException).code,
        )
        assert.ok(
          typeof status === 'number' ? status < 500 : /ECONNRESET|EPIPE/.test(String(status)),
          String(status),
        )
      }
      done(await mallory(target()))
    })

    it('with schemas and patterns that take for ever', async () => {
      const crds = `${at(lair)}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
      const definition = (plural: string, spec: object): object => ({
        ...fixture,
        metadata: { name: `${plural}.evil.example.com` },
        spec: {
          group: 'evil.example.com',
          scope: 'Namespaced',
          names: { plural, kind: `K${plural}`, listKind: `K${plural}List`, singular: `k${plural}` },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
            },
          ],
        },
      })
      const pattern = {
        type: 'object',
        properties: { a: { type: 'string', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' } },
      }
      done(await mallory(crds, post(definition('patterns', pattern))), 201)
      await lair.kubectl(['wait', '--for=condition=Established', 'crd/patterns.evil.example.com'])
      const body = {
        apiVersion: 'evil.example.com/v1',
        kind: 'Kpatterns',
        metadata: { name: 'a' },
        spec: { a: 'a'.repeat(50_000) },
      }
      refused(
        await mallory(`${at(lair)}/apis/evil.example.com/v1/namespaces/default/patterns`, post(body)),
        422,
      )
      const [open, close] = ['{"type":"object","properties":{"a":', '}}']
      const text = JSON.stringify(definition('nested', { nested: true }))
      const deep = text.replace(
        '{"nested":true}',
        `${open.repeat(4_000)}{"type":"object"}${close.repeat(4_000)}`,
      )
      const reply = await mallory(crds, post(deep))
      assert.ok(reply.status < 500, reply.text.slice(0, 300))
      const lookaround = { type: 'object', properties: { a: { type: 'string', pattern: '(?=a)b' } } }
      refused(await mallory(crds, post(definition('lookarounds', lookaround))), 422)
      done(await mallory(target()))
    })
  })
})
