import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { fixture } from '../../conformance/fixture.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { compiled, discard, eventually, type Oriel, run, startOriel } from '../../support/oriel.ts'
import { startStandalone } from '../../support/servers/standalone.ts'
import { root } from '../../support/source.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, createWorkspaces, exportApi, type Tenant } from '../../support/tenants.ts'
import { userAt } from '../../support/watcher.ts'

const views = ['team', 'redacted', 'catalog', 'usage', 'report', 'tenant'].flatMap(name => [
  '--view',
  join(root, `dist/examples/views/${name}.js`),
])
const tokens = 'blue-token,blue,1,"team:blue"\nauditor-token,auditor,2,auditors\n'
const maps = '/api/v1/configmaps'
const secrets = '/api/v1/secrets'

const configMap = (name: string, team: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels: { team } },
})
const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'hush', namespace: 'default', annotations: { note: 'sesame' } },
  data: { word: Buffer.from('sesame').toString('base64') },
}
const inventory: readonly KubeObject[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'inventory' },
    rules: [
      { nonResourceURLs: ['/'], verbs: ['access'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['inventory'] },
      { apiGroups: ['example.com'], resources: ['usages'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'inventory' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'inventory' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'auditor' }],
  },
]

type Start = (shardArgs: readonly string[]) => Promise<Oriel>

/** The examples behave the same in the server and in front of a shard. */
const pluginFlows = (start: Start) =>
  function (this: Mocha.Suite): void {
    this.timeout(180_000)
    let oriel: Oriel
    let one: Tenant
    let two: Tenant
    let blue: Client
    let auditor: Client
    const as = (user: string): Promise<Client> => clientOf(userAt(oriel, oriel.viewsUrl, `${user}-token`))
    const list = async (client: Client, path: string): Promise<readonly KubeObject[]> =>
      (await client(path)).json<{ items: readonly KubeObject[] }>().items

    before(async () => {
      const file = join(await temporaryDirectory('plugins'), 'tokens.csv')
      await writeFile(file, tokens)
      oriel = await start(['--token-auth-file', file])
      ;[one, two] = (await createWorkspaces(oriel, ['one', 'two'])) as [Tenant, Tenant]
      for (const { kubectl } of [one, two])
        await apply(kubectl, configMap('a', 'blue'), configMap('b', 'red'), secret)
      await apply(one.kubectl, ...inventory)
      await exportApi(one, fixture, [])
      await one.kubectl(['label', 'apiexport', 'example.com', 'catalog=yes'])
      blue = await as('blue')
      auditor = await as('auditor')
    })
    after(() => discard(oriel))

    it('serve a team its ConfigMaps of all logical clusters, and other users none', async () => {
      const path = `/services/team/blue/clusters/*${maps}`
      const found = await list(blue, path)
      assert.deepEqual(
        found.map(({ metadata }) => metadata.name),
        ['a', 'a'],
      )
      assert.equal((await auditor(path)).status, 403)
      assert.equal((await blue(`/services/team/red/clusters/*${maps}`)).status, 403)
      const inside = `/services/team/blue/clusters/${one.cluster}/api/v1/namespaces/default/configmaps`
      assert.equal((await blue(`${inside}/a`)).status, 200)
      assert.equal((await blue(`${inside}/b`)).status, 404)
      assert.equal((await blue(`${inside}/a`, { method: 'DELETE' })).status, 405)
    })

    it('list secrets without their values', async () => {
      const path = `/services/redacted/clusters/${one.cluster}${secrets}`
      const reply = await eventually(
        () => auditor(path),
        ({ status }) => status === 200,
      )
      const found = reply
        .json<{ items: readonly KubeObject[] }>()
        .items.find(({ metadata }) => metadata.name === 'hush')
      assert.deepEqual(found?.data, { word: '' })
      assert.ok(!reply.text.includes('sesame') && !reply.text.includes('c2VzYW1l'), reply.text)
      assert.equal((await auditor(path.replace(one.cluster, two.cluster))).status, 403)
    })

    it('count objects by events, and authorize by RBAC', async () => {
      const path = `/services/usage/clusters/${one.cluster}/apis/example.com/v1/usages`
      const watch = await auditor.watch(
        `${path}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dsecrets`,
      )
      const first = await watch.next()
      const count = Number(first?.object.count)
      assert.ok(count >= 1, JSON.stringify(first))
      await apply(one.kubectl, { ...secret, metadata: { name: 'second', namespace: 'default' } })
      assert.equal((await watch.next())?.object.count, count + 1)
      assert.equal((await blue(path)).status, 403)
    })

    it('answer plain HTTP behind their authorizer', async () => {
      const path = `/services/report/clusters/${one.cluster}/report`
      assert.match((await auditor(path)).text, /^default\/a\ndefault\/b\n/)
      assert.equal((await blue(path)).status, 403)
    })

    it('write objects under other names', async () => {
      const shared = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shared' } }
      await apply(one.kubectl, shared)
      const path = `/services/tenant/blue/clusters/${one.cluster}/api/v1/namespaces/default/configmaps`
      const named = (name: string) => ({
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name },
          data: { text: 'la' },
        }),
      })
      const made = await blue(path, named('song'))
      assert.equal(made.status, 201, made.text)
      const again = await blue(path, named('song'))
      assert.equal(again.json<{ message: string }>().message, 'configmaps "song" already exists')
      const stored = await one.kubectl.json<KubeObject>([
        'get',
        'configmap',
        'blue-song',
        '--namespace',
        'shared',
      ])
      assert.deepEqual([stored.data, stored.metadata.labels], [{ text: 'la' }, { team: 'blue' }])
      assert.deepEqual(
        (await list(blue, path)).map(({ metadata }) => metadata.name),
        ['song'],
      )
      const patched = await blue(`${path}/song`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ data: { text: 'lala' } }),
      })
      assert.deepEqual(
        [patched.status, patched.json<KubeObject>().data],
        [200, { text: 'lala' }],
        patched.text,
      )
      assert.equal((await blue(`${path}/song`, { method: 'DELETE' })).status, 200)
    })

    it('show all bindable exports to all users', async () => {
      const found = await list(blue, '/services/catalog/clusters/*/apis/apis.kcp.io/v1alpha2/apiexports')
      assert.deepEqual(
        found.map(({ metadata }) => [metadata.name, metadata.annotations?.['kcp.io/path']]),
        [['example.com', 'root:one']],
      )
      const bare = await clientOf(userAt(oriel, oriel.viewsUrl))
      assert.notEqual((await bare('/services/catalog/clusters/*/apis')).status, 200)
    })
  }

describe(
  'views of plugins',
  pluginFlows(args => startOriel({ args: [...args, ...views] })),
)
describe(
  'views of plugins in front of a shard',
  pluginFlows(args => startStandalone(views, args)),
)

describe('a view that cannot be loaded', function () {
  this.timeout(60_000)
  let directory: string
  before(async () => {
    directory = await temporaryDirectory('bad-views')
  })
  const started = async (content: string | undefined) => {
    const file = join(directory, `${Math.random()}.mjs`)
    if (content !== undefined) await writeFile(file, content)
    const data = join(directory, 'data')
    return run(process.execPath, [
      compiled,
      'start',
      '--data-directory',
      data,
      '--port',
      '0',
      '--store',
      'memory:',
      '--view',
      file,
    ])
  }
  const own = (name: string, path: string): string =>
    `export default f => f.defineVirtualWorkspace('${name}', '${path}', () => ({ apis: () => undefined }))`

  for (const [what, content, message] of [
    ['that is not there', undefined, /^oriel: Loading --view .* failed: there is no file \/.*\.mjs\.$/m],
    [
      'that does not parse',
      'export default',
      /^oriel: Loading --view .* failed: .*Unexpected token.* \/.*\.mjs:\d+:\d+\.$/m,
    ],
    [
      'that ends the process',
      'export default () => []\nprocess.exit(0)',
      /^oriel: The view \/.*\.mjs ended the process with code 0: remove process\.exit\(\) at \/.*\.mjs:2:9\.$/m,
    ],
    [
      'that exports no function',
      'export const view = 1',
      /^oriel: Loading --view .* failed: \/.*\.mjs: the default export must be a function that returns a view made by defineVirtualWorkspace\(\), or a list of such views\.$/m,
    ],
    [
      'that does not return a view',
      'export default () => ({})',
      /^oriel: Loading --view .* failed: \/.*\.mjs:1:16: the plugin must return a view made by defineVirtualWorkspace\(\), or a list of such views, but it returned an object\.$/m,
    ],
    [
      'that returns a promise',
      'export default async () => []',
      /\.mjs:1:16: the plugin must return .*, but it returned a promise: use await outside of the function\.$/m,
    ],
    [
      'that was written for a newer version',
      'export const apiVersion = 99\nexport default () => []',
      /^oriel: Loading --view .* failed: .*\.mjs: the plugin was written for version 99 of the API of plugins, and this server has version \d+: install a newer version of oriel\.$/m,
    ],
    [
      'that says no version',
      "export const apiVersion = 'v1'\nexport default () => []",
      /^oriel: Loading --view .* failed: .*\.mjs: apiVersion must be an integer, such as \d+, but it is "v1"\.$/m,
    ],
    [
      'that throws',
      'export default () => {\n  throw new Error("no luck")\n}',
      /^oriel: Loading --view .* failed: \/.*\.mjs:2:9: no luck\.$/m,
    ],
    [
      'without resources',
      `export default f =>\n  f.defineVirtualWorkspace('x', '/services/x', () => ({}))`,
      /^oriel: Creating the views failed: \/.*\.mjs:2:48: the view "x" has no "apis": add apis: \(\) => apiSetOf\(\[…\]\), which returns the resources that it serves\.$/m,
    ],
    [
      'with a misspelled member',
      `export default f => f.defineVirtualWorkspace('x', '/services/x', () => ({\n  apis() {},\n  autorize() {}\n}))`,
      /^oriel: Creating the views failed: \/.*\.mjs:3:11: the view "x" has the unknown member "autorize": the members are apis, authorize,/m,
    ],
    [
      'with a malformed path',
      own('x', 'services/x'),
      /failed: \/.*\.mjs:1:23: path pattern "services\/x" must start with "\/"\.$/m,
    ],
    [
      'with a duplicate name',
      own('apiexport', '/services/x'),
      /^oriel: Creating the views failed: \/.*\.mjs: duplicate virtual workspace "apiexport"\.$/m,
    ],
    [
      'with ambiguous URLs',
      own('x', '/services/:any'),
      /^oriel: Creating the views failed: \/.*\.mjs: virtual workspaces .* have ambiguous paths/m,
    ],
    [
      'that fails at creation',
      `export default f => f.defineVirtualWorkspace('x', '/services/x', () => { throw new Error('no luck') })`,
      /^oriel: Creating the views failed: \/.*\.mjs:1:80: no luck\.$/m,
    ],
  ] as const)
    it(`${what} ends the start with one line`, async () => {
      const { code, stderr } = await started(content)
      assert.equal(code, 1, stderr)
      assert.match(stderr, message)
      assert.equal(stderr.trim().split('\n').length, 1, stderr)
    })
})
