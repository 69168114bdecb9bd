import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import type { Client } from '../../support/client.ts'
import { eventually, type Kubectl } from '../../support/oriel.ts'
import { type FrontProxy, startFrontProxy } from '../../support/servers/frontproxy.ts'
import { type Shards, startShards } from '../../support/servers/shards.ts'
import { apply } from '../../support/tenants.ts'

const workspace = (name: string, shard: string, type?: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: {
    location: { selector: { matchLabels: { name: shard } } },
    ...(type && { type: { name: type, path: 'root' } }),
  },
})

const slow: KubeObject = {
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'WorkspaceType',
  metadata: { name: 'slow' },
  spec: { initializer: true, extend: { with: [{ name: 'universal', path: 'root' }] } },
}

interface Workspace extends KubeObject {
  readonly status?: {
    readonly phase: string
    readonly conditions?: readonly { type: string; message?: string }[]
  }
}

interface Shard extends KubeObject {
  readonly spec: { readonly virtualWorkspaceURL: string }
}

const finished = ({ status }: Workspace): string =>
  status?.conditions?.find(({ type }) => type === 'ControllersFinished')?.message ?? ''

describe('views of two shards', function () {
  this.timeout(180_000)
  let folder: string
  let shards: Shards
  let proxy: FrontProxy
  let root: Kubectl

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-shardedviews-'))
    shards = await startShards(folder)
    proxy = await startFrontProxy({ folder, name: 'proxy', shards: [shards.root, shards.beta] })
    root = proxy.kubectl.at('/clusters/root')
    await root(['wait', '--for=create', 'shard/beta'])
  })
  after(async () => {
    await proxy.stop()
    await Promise.all([shards.root.stop(), shards.beta.stop()])
    await rm(folder, { recursive: true })
  })

  const ready = (kubectl: Kubectl, name: string): Promise<Workspace> =>
    eventually(
      () => kubectl.json<Workspace>(['get', 'workspace', name]),
      ({ status }) => status?.phase === 'Ready',
    )

  for (const shard of ['root', 'beta'])
    it(`are named by a workspace on the shard ${shard} that waits for its initializer`, async () => {
      const name = `slow-${shard}`
      await apply(root, slow, workspace(name, shard, 'slow'))
      const waiting = await eventually(
        () => root.json<Workspace>(['get', 'workspace', name]),
        found => / at https:/.test(finished(found)),
      )
      const { spec } = await root.json<Shard>(['get', 'shard', shard])
      const url = `${spec.virtualWorkspaceURL}/services/initializingworkspaces/root:slow`
      assert.ok(finished(waiting).endsWith(` at ${url}`), finished(waiting))
    })

  describe('of declared Views, and of queries', () => {
    const note = (name: string, color: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'default' },
      data: { color },
    })
    const view: KubeObject = {
      apiVersion: 'views.oriel.dev/v1alpha1',
      kind: 'View',
      metadata: { name: 'red' },
      spec: {
        source: { cluster: '.' },
        resources: [
          { resource: 'configmaps', verbs: ['get', 'list'], where: "object.data['color'] == 'red'" },
        ],
      },
    }

    before(async () => {
      for (const shard of ['root', 'beta']) {
        await apply(root, workspace(`notes-${shard}`, shard))
        await ready(root, `notes-${shard}`)
        const inside = proxy.kubectl.at(`/clusters/root:notes-${shard}`)
        await apply(inside, note('a', 'red'), note('b', 'blue'), view)
      }
    })

    for (const shard of ['root', 'beta'])
      it(`are served by the shard of their workspace (${shard})`, async () => {
        const inside = proxy.kubectl.at(`/clusters/root:notes-${shard}`)
        await inside(['wait', '--for=condition=Ready', 'view/red'])
        const { spec } = await root.json<KubeObject & { spec: { cluster: string } }>([
          ...['get', 'workspace', `notes-${shard}`],
        ])
        const admin = await proxy.client('admin-token')
        const where = encodeURIComponent("object.data['color'] == 'red'")
        for (const path of [
          `/services/views/${spec.cluster}/red/clusters/*/api/v1/configmaps`,
          `/services/query/clusters/${spec.cluster}/api/v1/configmaps?where=${where}`,
          `/services/query/clusters/root:notes-${shard}/api/v1/configmaps?where=${where}`,
        ]) {
          const { json, status, text } = await admin(path)
          assert.equal(status, 200, text)
          const names = (json().items ?? []).map(({ metadata }) => metadata.name)
          assert.deepEqual(names, ['a'], path)
        }
        admin.close()
      })

    it('hide objects of a workspace whose labels its shard does not know', async () => {
      const inside = proxy.kubectl.at('/clusters/root:notes-beta')
      const open = { ...view, metadata: { name: 'open' } }
      const where = "!('private' in cluster.labels)"
      const resources = [{ resource: 'configmaps', verbs: ['get', 'list'], where }]
      await root(['label', 'workspace', 'notes-beta', 'private=yes'])
      await apply(inside, { ...open, spec: { source: { cluster: '.' }, resources } })
      await inside(['wait', '--for=condition=Ready', 'view/open'])
      const { spec } = await root.json<KubeObject & { spec: { cluster: string } }>([
        ...['get', 'workspace', 'notes-beta'],
      ])
      const admin = await proxy.client('admin-token')
      const { json, text } = await admin(`/services/views/${spec.cluster}/open/clusters/*/api/v1/configmaps`)
      assert.deepEqual(json().items, [], text)
      admin.close()
    })
  })

  describe('of personal workspaces', () => {
    const personal = '/services/workspaces/clusters'
    const namesFor = async (client: Client, parent: string): Promise<readonly string[]> => {
      const { json, status, text } = await client(
        `${personal}/${parent}/apis/tenancy.kcp.io/v1alpha1/workspaces`,
      )
      assert.equal(status, 200, text)
      return (json().items ?? []).map(({ metadata }) => metadata.name ?? '').toSorted()
    }
    const member = (name: string) => [
      'create',
      'clusterrolebinding',
      name,
      '--clusterrole=system:kcp:workspace:access',
      '--user=nobody',
    ]
    let nobody: Client

    before(async () => {
      await apply(root, workspace('parent-root', 'root'), workspace('parent-beta', 'beta'))
      nobody = await proxy.client('nobody-token')
      for (const parent of ['parent-root', 'parent-beta']) {
        await ready(root, parent)
        const inside = proxy.kubectl.at(`/clusters/root:${parent}`)
        await apply(
          inside,
          workspace('on-root', 'root'),
          workspace('on-beta', 'beta'),
          workspace('hidden', 'beta'),
        )
        for (const name of ['on-root', 'on-beta', 'hidden']) await ready(inside, name)
        await inside(member('member'))
        await inside([
          'create',
          'clusterrole',
          'lists',
          '--verb=get,list,watch',
          '--resource=workspaces.tenancy.kcp.io',
        ])
        await inside(['create', 'clusterrolebinding', 'lists', '--clusterrole=lists', '--user=nobody'])
        for (const name of ['on-root', 'on-beta'])
          await proxy.kubectl.at(`/clusters/root:${parent}:${name}`)(member('member'))
      }
    })
    after(() => nobody.close())

    for (const parent of ['parent-root', 'parent-beta'])
      it(`has those on both shards, below a parent on either (${parent})`, () =>
        eventually(
          () => namesFor(nobody, `root:${parent}`),
          names => String(names) === 'on-beta,on-root',
        ))

    it('tells a watch of access that is granted and withdrawn on the other shard', async () => {
      const path = `${personal}/root:parent-root/apis/tenancy.kcp.io/v1alpha1/workspaces?watch=true`
      const watch = await nobody.watch(path)
      const hidden = proxy.kubectl.at('/clusters/root:parent-root:hidden')
      await hidden(member('late'))
      const seen: string[] = []
      const until = async (wanted: string): Promise<void> => {
        while (!seen.includes(wanted)) {
          const event = await watch.next()
          assert.ok(event, `the watch ended after ${seen}`)
          seen.push(`${event.type} ${event.object.metadata.name}`)
        }
      }
      await until('ADDED hidden')
      await hidden(['delete', 'clusterrolebinding', 'late'])
      await until('DELETED hidden')
      watch.leave()
    })

    for (const parent of ['parent-root', 'parent-beta'])
      it(`are beside the namespaces of the user on the shard of ${parent}`, async () => {
        const inside = proxy.kubectl.at(`/clusters/root:${parent}`)
        const path = `/services/namespaces/clusters/root:${parent}/api/v1/namespaces`
        const watch = await nobody.watch(`${path}?watch=true`)
        const role = ['--verb=get', '--resource=namespaces', '--resource-name=default']
        await inside(['create', 'clusterrole', 'namespace', ...role])
        await inside([
          'create',
          'clusterrolebinding',
          'namespace',
          '--clusterrole=namespace',
          '--user=nobody',
        ])
        const event = await watch.next()
        assert.deepEqual([event?.type, event?.object.metadata.name], ['ADDED', 'default'])
        watch.leave()
        const { text, json } = await nobody(path)
        assert.deepEqual(
          json().items?.map(({ metadata }) => metadata.name),
          ['default'],
          text,
        )
      })

    it('finds the home of a user by the path user:<name>', async () => {
      const client = await proxy.client('nobody-token')
      await eventually(
        () => client('/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces/~'),
        ({ status }) => status === 200,
      )
      await eventually(
        () => client('/clusters/user:nobody/api/v1/namespaces'),
        ({ status }) => status === 200,
      )
      client.close()
    })
  })
})
