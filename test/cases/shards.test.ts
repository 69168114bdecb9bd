import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../../framework/index.ts'
import { eventually, type Kubectl, kubectlFor, readText } from '../support/oriel.ts'
import { bound } from '../support/people.ts'
import { type Issuer, startIssuer } from '../support/servers/issuer.ts'
import { type Shards, startShards } from '../support/servers/shards.ts'
import { apply, bind, bindingOf, exportApi, type Tenant } from '../support/tenants.ts'
import { trusting } from '../support/trust.ts'
import { ask } from '../support/wire.ts'

const kind = (group: string, plural: string, name: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    names: { plural, singular: name.toLowerCase(), kind: name, listKind: `${name}List` },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

interface Slice {
  readonly status?: { readonly endpoints?: readonly { readonly url: string }[] }
}

/** The cases of kcp's `test/e2e/virtual/apiexport` and `pkg/index` that need two shards. */
describe('two shards', function () {
  this.timeout(180_000)
  let folder: string
  let shards: Shards
  let root: Kubectl
  let issuer: Issuer

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-cases-'))
    issuer = await startIssuer()
    shards = await startShards(folder, ['--issuer-allow', 'localhost'])
    root = kubectlFor(shards.root, 'root')
    await root(['wait', '--for=create', 'shard/beta'])
  })
  after(async () => {
    await Promise.all([shards.root.stop(), shards.beta.stop(), issuer.stop()])
    await rm(folder, { recursive: true })
  })

  async function create(name: string, shard: 'root' | 'beta', type = 'universal'): Promise<Tenant> {
    const location = { selector: { matchLabels: { name: shard } } }
    await apply(root, {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name },
      spec: { location, type: { name: type, path: 'root' } },
    } as KubeObject)
    await root(['wait', '--for=jsonpath={.status.phase}=Ready', '--timeout=60s', `workspace/${name}`])
    const cluster = await root(['get', 'workspace', name, '-o', 'jsonpath={.spec.cluster}'])
    const kubectl = kubectlFor(shards[shard], 'root').at(`/clusters/${cluster}`)
    return { path: `root:${name}`, cluster, kubectl }
  }

  it('TestAPIExportPermissionClaimsVirtualWorkspaceAcrossShards: every endpoint lists claimed resources, also on shards without consumers', async () => {
    const network = await create('network', 'root')
    const claimer = await create('claimer', 'root')
    const near = await create('near', 'root')
    const far = await create('far', 'beta')
    await exportApi(network, kind('net.io', 'vnets', 'VNet'), [])
    const identityHash = await network.kubectl([
      'get',
      'apiexport',
      'net.io',
      '-o',
      'jsonpath={.status.identityHash}',
    ])
    const claim = { group: 'net.io', resource: 'vnets', identityHash }
    await exportApi(claimer, kind('apps.io', 'apps', 'App'), [claim])
    await bind(near, bindingOf(network, 'net.io', []))
    const taken = { ...claim, verbs: ['*'], state: 'Accepted', selector: { matchAll: true } }
    for (const consumer of [near, far]) await bind(consumer, bindingOf(claimer, 'apps.io', [taken]))
    await apply(near.kubectl, {
      apiVersion: 'net.io/v1',
      kind: 'VNet',
      metadata: { name: 'one' },
    } as KubeObject)
    const slice = await eventually(
      () => claimer.kubectl.json<Slice>(['get', 'apiexportendpointslice', 'apps.io']),
      found => found.status?.endpoints?.length === 2,
    )
    const ca = await readText(join(shards.root.directory, 'ca.crt'))
    const headers = { authorization: 'Bearer shards-token' }
    const list = async (url: string): Promise<readonly string[]> => {
      const { status, body } = await ask('HTTP/2', `${url}/clusters/*/apis/net.io/v1/vnets`, { ca, headers })
      assert.equal(status, 200, `${url}: ${body}`)
      return (JSON.parse(body) as { items: KubeObject[] }).items.map(({ metadata }) => metadata.name ?? '')
    }
    const urls = slice.status?.endpoints?.map(({ url }) => url) ?? []
    const all = await eventually(
      async () => (await Promise.all(urls.map(list))).map(names => names.join()).sort(),
      names => names.includes('one'),
    )
    assert.deepEqual(all, ['', 'one'])
  })

  it('authenticates users of issuers that a type on the other shard trusts', async () => {
    await apply(root, ...trusting('company', issuer))
    const away = await create('away', 'beta', 'company')
    await apply(away.kubectl, bound('cluster-admin', 'oidc:ann@example.com'))
    const ca = await readText(join(shards.beta.directory, 'ca.crt'))
    const token = await issuer.token({ sub: 'ann', email: 'ann@example.com' })
    const headers = { authorization: `Bearer ${token}` }
    const url = `${shards.beta.url}/clusters/${away.cluster}/api/v1/configmaps`
    await eventually(
      () => ask('HTTP/2', url, { ca, headers }),
      ({ status }) => status === 200,
    )
  })
})
