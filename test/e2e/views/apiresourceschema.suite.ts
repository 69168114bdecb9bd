import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fixture } from '../../conformance/fixture.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { certificates } from '../../support/crds.ts'
import { discard, eventually, type Kubectl, kubectlFor, type Oriel } from '../../support/oriel.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  rolesFor,
  type Tenant,
} from '../../support/tenants.ts'
import { configAt, userAt, watch } from '../../support/watcher.ts'

const schemas = '/apis/apis.kcp.io/v1alpha1/apiresourceschemas'
const tokens = 'reader-token,reader,1\nmallory-token,mallory,2\n'

interface List {
  readonly metadata: { readonly resourceVersion?: string }
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}

/** The tests of the view, for the embedded and the separate process. */
export const schemaFlows = (start: (args: readonly string[]) => Promise<Oriel>) =>
  function (this: Mocha.Suite): void {
    this.timeout(180_000)
    let oriel: Oriel
    let certs: Tenant
    let routes: Tenant
    let consumer: Tenant
    let bystander: Tenant
    let admin: Client
    const urlOf = ({ cluster }: Tenant): string => `${oriel.viewsUrl}/services/apiresourceschema/${cluster}`
    const as = (user: string): Promise<Client> => clientOf(userAt(oriel, oriel.viewsUrl, `${user}-token`))
    const pathOf = ({ cluster }: Tenant): string => `/services/apiresourceschema/${cluster}/clusters/*`
    const namesIn = async (client: Client, path: string): Promise<readonly string[]> =>
      (await client(path))
        .json<List>()
        .items.map(({ metadata }) => metadata.name)
        .sort()
    let kubectl: Kubectl

    before(async () => {
      const directory = await temporaryDirectory('schemas')
      const file = join(directory, 'tokens.csv')
      await writeFile(file, tokens)
      oriel = await start(['--token-auth-file', file])
      const tenants = await createWorkspaces(oriel, ['certs', 'routes', 'consumer', 'bystander'])
      ;[certs, routes, consumer, bystander] = tenants as [Tenant, Tenant, Tenant, Tenant]
      await exportApi(certs, certificates(), [])
      await exportApi(routes, fixture, [])
      await bind(consumer, bindingOf(certs, 'cert-manager.io', []))
      await bind(consumer, bindingOf(routes, 'example.com', []))
      admin = await clientOf(configAt(oriel, oriel.viewsUrl, 'shard-base'))
      kubectl = kubectlFor(oriel, 'base').at(`${urlOf(consumer)}/clusters/*`)
    })
    after(() => discard(oriel))

    it('serves the schemas of the consumer’s bindings only', async () => {
      const names = ['v1.certificates.cert-manager.io', 'v1.widgets.example.com']
      // Every workspace also binds the exports of root.
      const roots = [
        'partitions.topology',
        'partitionsets.topology',
        'workspaceauthenticationconfigurations.tenancy',
        'workspaces.tenancy',
        'workspacetypes.tenancy',
      ]
      await eventually(
        () => namesIn(admin, pathOf(consumer) + schemas),
        found => names.every(name => found.includes(name)),
      )
      const others = (await namesIn(admin, pathOf(consumer) + schemas)).filter(name => !names.includes(name))
      assert.deepEqual(
        others.map(name => name.replace(/^[^.]+[.]/, '')).sort(),
        roots.map(name => `${name}.kcp.io`),
      )
      const schema = await kubectl.json<{ metadata: { annotations: Record<string, string> } }>([
        'get',
        'apiresourceschema',
        'v1.certificates.cert-manager.io',
      ])
      assert.equal(schema.metadata.annotations['kcp.io/cluster'], certs.cluster)
      const missing = await admin(`${pathOf(consumer)}${schemas}/v1.secrets.example.com`)
      assert.equal(missing.status, 404)
      assert.equal(
        missing.json().message,
        'apiresourceschemas.apis.kcp.io "v1.secrets.example.com" not found',
      )
    })

    it('is the same with and without the logical cluster behind the consumer', async () => {
      const { cluster } = consumer
      for (const inCluster of ['', '/clusters/*', `/clusters/${cluster}`])
        assert.equal(
          (await namesIn(admin, `/services/apiresourceschema/${cluster}${inCluster}${schemas}`)).length,
          7,
        )
    })

    it('belongs to one consumer: URLs with another cluster, `*` or a path are 404', async () => {
      const mallory = await as('mallory')
      const { cluster } = consumer
      const urls = [
        `${cluster}/clusters/${bystander.cluster}`,
        `${cluster}/clusters/root:consumer`,
        '*',
        'root:consumer',
      ]
      for (const url of urls) {
        const path = `/services/apiresourceschema/${url}${schemas}`
        assert.equal((await admin(path)).status, 404, url)
        const refused = await mallory(path)
        assert.equal(refused.status, 403, url)
        assert.match(refused.json().message ?? '', /Path not resolved to a valid virtual workspace/)
      }
    })

    it('serves nothing, not even discovery, without bindings', async () => {
      const path = `/services/apiresourceschema/${certs.cluster}/clusters/*/apis/apis.kcp.io/v1alpha1`
      assert.equal((await admin(`/services/apiresourceschema/nobody/clusters/*${schemas}`)).status, 404)
      assert.equal((await admin(path.replace(certs.cluster, 'nobody'))).status, 404)
    })

    it('is discovered as one read-only resource, with OpenAPI', async () => {
      const list = await admin(`${pathOf(consumer)}/apis/apis.kcp.io/v1alpha1`)
      const { resources } = list.json<{ resources: readonly { name: string; verbs: readonly string[] }[] }>()
      assert.deepEqual(
        resources.map(({ name, verbs }) => [name, verbs]),
        [['apiresourceschemas', ['get', 'list', 'watch']]],
      )
      const { paths } = (await admin(`${pathOf(consumer)}/openapi/v3`)).json<{ paths: object }>()
      assert.ok('apis/apis.kcp.io/v1alpha1' in paths)
    })

    it('is read-only, for users who may read the consumer’s bindings', async () => {
      const reader = await as('reader')
      const path = pathOf(consumer) + schemas
      const refused = await reader(path)
      assert.equal(refused.status, 403)
      assert.match(
        refused.json().message ?? '',
        /^apiresourceschemas.apis.kcp.io is forbidden: User "reader" cannot list resource "apiresourceschemas" in API group "apis.kcp.io" at the cluster scope: access denied$/,
      )
      await apply(
        consumer.kubectl,
        ...rolesFor('reader', { apiGroups: ['apis.kcp.io'], resources: ['apibindings'], verbs: ['get'] }),
      )
      await eventually(
        () => reader(path),
        ({ status }) => status === 200,
      )
      const name = 'v1.certificates.cert-manager.io'
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const target = method === 'POST' ? path : `${path}/${name}`
        const headers = {
          'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        }
        assert.equal((await reader(target, { method, headers, body: {} })).status, 403, method)
        assert.equal((await admin(target, { method, headers, body: {} })).status, 405, method)
      }
      assert.equal((await reader(pathOf(bystander) + schemas)).status, 403)
    })

    if (!process.env.KCP_BIN)
      it('sends schemas of new and deleted bindings in a watch', async () => {
        const listed = (await admin(pathOf(consumer) + schemas)).json<List>()
        const watcher = await watch(configAt(oriel, `${urlOf(consumer)}/clusters/*`), schemas, {
          resourceVersion: listed.metadata.resourceVersion,
          allowWatchBookmarks: true,
        })
        try {
          await consumer.kubectl(['delete', 'apibinding', 'example.com'])
          await watcher.next(
            ({ type, object }) => type === 'DELETED' && object.metadata?.name === 'v1.widgets.example.com',
          )
          await bind(consumer, bindingOf(routes, 'example.com', []))
          const added = await watcher.next(({ type }) => type === 'ADDED')
          assert.equal(added.object.metadata?.name, 'v1.widgets.example.com')
          await certs.kubectl(['label', 'apiresourceschema', 'v1.certificates.cert-manager.io', 'a=b'])
          await watcher.next(({ type, object }) => type === 'MODIFIED' && object.metadata?.labels?.a === 'b')
        } finally {
          watcher.stop()
        }
        const stale = await admin.watch(
          `${pathOf(consumer)}${schemas}?watch=true&resourceVersion=${listed.metadata.resourceVersion}`,
        )
        const first = await stale.next()
        assert.equal(first?.type, 'ERROR')
        assert.equal(first?.object.code, 410)
      })
  }
