import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import type { Client } from '../../support/client.ts'
import { needsLastingStore } from '../../support/notrun.ts'
import {
  compiled,
  eventually,
  type Kubectl,
  kubectlFor,
  type Oriel,
  readText,
  run,
  startOriel,
} from '../../support/oriel.ts'
import { type FrontProxy, privileged, startFrontProxy } from '../../support/servers/frontproxy.ts'
import { type Shards, startShards } from '../../support/servers/shards.ts'
import { apply, bind, bindingOf, exportApi, type Tenant } from '../../support/tenants.ts'

const workspace = (name: string, shard: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: { location: { selector: { matchLabels: { name: shard } } } },
})

const widgets = (group: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

interface Workspace extends KubeObject {
  readonly spec: { readonly cluster: string; readonly URL: string }
  readonly status: {
    readonly phase: string
    readonly conditions?: readonly { type: string; reason?: string; message?: string }[]
  }
}

describe('one tree over two shards', function () {
  this.timeout(180_000)
  let folder: string
  let shards: Shards
  let beta: Oriel
  let proxies: readonly FrontProxy[]
  let clients: readonly Client[]
  let root: Kubectl

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-shards-'))
    shards = await startShards(folder, ['--mount-allow', '127.0.0.1'])
    beta = shards.beta
    const both = [shards.root, beta]
    proxies = await Promise.all(['one', 'two'].map(name => startFrontProxy({ folder, name, shards: both })))
    clients = await Promise.all(proxies.map(proxy => proxy.client('admin-token')))
    root = through('root')
    await root(['wait', '--for=create', 'shard/beta'])
  })
  after(async () => {
    for (const client of clients) client.close()
    await Promise.all(proxies.map(proxy => proxy.stop()))
    await Promise.all([shards.root.stop(), beta.stop()])
    await rm(folder, { recursive: true })
  })

  /** By path, through the first proxy. */
  function through(path: string): Kubectl {
    const [proxy] = proxies
    assert.ok(proxy)
    return proxy.kubectl.at(`/clusters/${path}`)
  }
  const answers = async (path: string, status: number): Promise<void> => {
    for (const client of clients)
      await eventually(
        () => client(path),
        reply => reply.status === status,
      )
  }
  const ready = (parent: Kubectl, name: string): Promise<Workspace> =>
    eventually(
      () => parent.json<Workspace>(['get', 'workspace', name]),
      ({ status }) => status?.phase === 'Ready',
    )
  const create = async (parent: string, name: string, shard: string): Promise<Tenant> => {
    await apply(through(parent), workspace(name, shard))
    const { metadata, spec } = await ready(through(parent), name)
    assert.equal(metadata.annotations?.['core.kcp.io/shard'], shard)
    const path = `${parent}:${name}`
    await answers(`/clusters/${path}/api`, 200)
    return { path, cluster: spec.cluster, kubectl: through(path) }
  }
  let far: Tenant
  let near: Tenant

  it('lists both shards', async () => {
    const local = ({ url }: Oriel) => url.replace('127.0.0.1', 'localhost')
    for (const [name, oriel] of Object.entries({ root: shards.root, beta })) {
      const { metadata, spec } = await root.json<KubeObject>(['get', 'shard', name])
      const [baseURL, externalURL] = [local(oriel), local(shards.root)]
      assert.deepEqual(spec, { baseURL, externalURL, virtualWorkspaceURL: baseURL })
      assert.equal(metadata.labels?.name, name)
    }
  })

  it('schedules workspaces on the selected shard, and serves them by either proxy', async () => {
    far = await create('root', 'far', 'beta')
    near = await create('root', 'near', 'root')
    for (const { path, cluster, kubectl } of [far, near]) {
      await kubectl(['create', 'configmap', 'here', `--from-literal=path=${path}`])
      for (const client of clients)
        for (const address of [path, cluster]) {
          const reply = await client(`/clusters/${address}/api/v1/namespaces/default/configmaps/here`)
          assert.equal(reply.json().metadata.annotations?.['kcp.io/cluster'], cluster)
        }
    }
    assert.equal((await kubectlFor(beta, 'base').at(`/clusters/${near.cluster}`).try(['get', 'ns'])).code, 1)
  })

  it('reports when no shard matches', async () => {
    await apply(root, workspace('nowhere', 'gamma'))
    const { status } = await root.json<Workspace>(['get', 'workspace', 'nowhere'])
    const scheduled = status.conditions?.find(({ type }) => type === 'WorkspaceScheduled')
    assert.equal(scheduled?.message, 'No available shards to schedule the workspace')
    await root(['delete', 'workspace', 'nowhere'])
  })

  it('may have a parent and child on different shards', async () => {
    const back = await create(far.path, 'back', 'root')
    const again = await create(back.path, 'again', 'beta')
    assert.equal(again.path, 'root:far:back:again')
    assert.match(await again.kubectl(['get', 'namespaces', '-o', 'name']), /namespace\/default/)
  })

  it('binds exports of the other shard by path, with permission', async () => {
    for (const [provider, consumer] of [
      [near, far],
      [far, near],
    ] as const) {
      const group = `${provider.path.split(':').at(-1)}.example.com`
      await exportApi(provider, widgets(group), [])
      await eventually(
        () => consumer.kubectl.try(['apply', '-f', '-'], JSON.stringify(bindingOf(provider, group, []))),
        ({ code }) => code === 0,
      )
      await bind(consumer, bindingOf(provider, group, []))
      await apply(consumer.kubectl, {
        apiVersion: `${group}/v1`,
        kind: 'Widget',
        metadata: { name: 'one', namespace: 'default' },
      })
    }
  })

  it('lists the views of every shard in status', async () => {
    const urls = async () => {
      const { status } = await root.json<KubeObject>(['get', 'workspacetype', 'universal'])
      const all = (status as { virtualWorkspaces?: readonly { url: string }[] }).virtualWorkspaces ?? []
      return all.map(({ url }) => new URL(url).port).toSorted()
    }
    const ports = [shards.root, shards.root, beta, beta].map(({ url }) => new URL(url).port)
    await eventually(urls, found => String(found) === String(ports.toSorted()))
  })

  it('mounts clusters in workspaces of either shard', async () => {
    for (const { kubectl, path } of [far, near]) {
      const kubeconfig = privileged(`${shards.root.url}/clusters/${near.cluster}`, [
        await readText(join(shards.root.directory, 'ca.crt')),
      ])
      await apply(
        kubectl,
        {
          apiVersion: 'apis.kcp.io/v1alpha2',
          kind: 'APIBinding',
          metadata: { name: 'mounts' },
          spec: {
            reference: { export: { path: 'root', name: 'mounts.contrib.kcp.io' } },
            permissionClaims: [
              {
                group: '',
                resource: 'secrets',
                verbs: ['get', 'list', 'watch'],
                state: 'Accepted',
                selector: { matchAll: true },
              },
            ],
          },
        },
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'peer', namespace: 'default' },
          stringData: { kubeconfig },
        },
      )
      await kubectl(['wait', '--for=condition=Ready', 'apibinding/mounts'])
      const ref = { apiVersion: 'mounts.contrib.kcp.io/v1alpha1', kind: 'KubeCluster', name: 'edge' }
      await apply(
        kubectl,
        {
          apiVersion: ref.apiVersion,
          kind: ref.kind,
          metadata: { name: ref.name },
          spec: { secretRef: { name: 'peer' }, identity: { mode: 'Shared' } },
        },
        {
          apiVersion: 'tenancy.kcp.io/v1alpha1',
          kind: 'Workspace',
          metadata: { name: 'edge' },
          spec: { mount: { ref } },
        },
      )
      await kubectl(['wait', '--for=condition=WorkspaceMountReady', 'workspace/edge', '--timeout=60s'])
      await answers(`/clusters/${path}:edge/api/v1/namespaces/default/configmaps/here`, 200)
    }
  })

  it('refuses deleted workspaces at once', async () => {
    const brief = await create('root', 'brief', 'beta')
    await root(['delete', 'workspace', 'brief'])
    await answers(`/clusters/${brief.path}/api`, 403)
    await answers(`/clusters/${brief.cluster}/api`, 403)
    const left = await kubectlFor(beta, 'shard-base').at(`/clusters/${brief.cluster}`).try(['get', 'ns'])
    assert.match(left.stderr, /No resources found/)
  })

  it('continues without an unreachable shard, and uses its new address', async function () {
    needsLastingStore(this)
    await beta.stop()
    await answers(`/clusters/${far.path}/api`, 502)
    const late = await startFrontProxy({ folder, name: 'late', shards: [shards.root, beta] })
    const client = await late.client('admin-token')
    const status = async (path: string) => (await client(`/clusters/${path}/api`)).status
    await eventually(
      () => status(near.path),
      code => code === 200,
    )
    await eventually(
      async () => (await client('/readyz')).status,
      code => code === 200,
    )
    assert.equal(await status(far.path), 503)
    beta = await shards.restartBeta()
    await answers(`/clusters/${far.path}/api/v1/namespaces/default/configmaps/here`, 200)
    await create('root', 'later', 'beta')
    await eventually(
      () => status(far.path),
      code => code === 200,
    )
    client.close()
    await late.stop()
  })

  it('is not joined by a shard with another root workspace', async function () {
    needsLastingStore(this)
    await shards.root.stop()
    const args = ['--shard-name', 'gamma', '--root-shard-kubeconfig-file', join(folder, 'root.kubeconfig')]
    await assert.rejects(startOriel({ directory: join(folder, 'root'), args }), {
      message:
        /ended with 1:\noriel: The store already contains a root workspace: start with an empty --store to join another shard\./,
    })
  })
})

describe('a shard that cannot join', () => {
  for (const [what, args, problem] of [
    [
      'no root to join',
      ['--shard-name', 'beta'],
      /Shard beta is not the root shard: add --root-shard-kubeconfig-file/,
    ],
    ['no name of its own', ['--root-shard-kubeconfig-file', '/dev/null'], /choose another --shard-name/],
    ['a name that is none', ['--shard-name', 'A b'], /A shard name is a DNS label/],
    ['a URL without TLS', ['--shard-base-url', 'http://a'], /Give an https URL/],
  ] as const)
    it(`reports that it has ${what}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'oriel-join-'))
      const { code, stderr } = await run(process.execPath, [
        compiled,
        'start',
        '--data-directory',
        folder,
        ...args,
      ])
      assert.equal(code, 1)
      assert.match(stderr, problem)
      await rm(folder, { recursive: true })
    })
})
