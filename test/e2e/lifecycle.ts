import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../framework/index.ts'
import { clientOf } from '../support/client.ts'
import {
  discard,
  eventually,
  type Kubectl,
  kubectlFor,
  type Oriel,
  type Outcome,
  run,
} from '../support/oriel.ts'
import { root } from '../support/source.ts'
import { apply, createWorkspaces, type Tenant } from '../support/tenants.ts'
import { configAt, type Seen, watch } from '../support/watcher.ts'

const judged = process.env.KCP_BIN !== undefined
const logicalclusters = '/apis/core.kcp.io/v1alpha1/logicalclusters'
const universal = { with: [{ path: 'root', name: 'universal' }] }
const discovery = [{ nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*'], verbs: ['get'] }]
const configMaps = [{ apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['*'] }, ...discovery]

const workspaceType = (name: string, spec: object): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'WorkspaceType',
  metadata: { name },
  spec: { extend: universal, ...spec },
})
const workspace = (name: string, type: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: { type: { path: 'root:provider', name: type } },
})
const configMap = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
})

interface Type {
  readonly status?: {
    readonly virtualWorkspaces?: readonly { readonly url: string; readonly type: string }[]
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}
interface Waiting extends KubeObject {
  readonly spec: { readonly cluster: string }
  readonly status: {
    readonly phase: string
    readonly initializers?: readonly string[]
    readonly terminators?: readonly string[]
    readonly conditions?: readonly {
      readonly type: string
      readonly reason?: string
      readonly message?: string
    }[]
  }
}
interface List {
  readonly items: readonly Waiting[]
}

/** What the views do, wherever they run. */
export const lifecycleFlows = (bringUp: () => Promise<Oriel>) =>
  function (this: Mocha.Suite): void {
    this.timeout(240_000)
    let oriel: Oriel
    let admin: Kubectl
    let provider: Tenant
    const children: ChildProcess[] = []

    before(async () => {
      oriel = await bringUp()
      admin = kubectlFor(oriel, 'root')
      provider = (await createWorkspaces(oriel, ['provider']))[0] as Tenant
      await apply(
        provider.kubectl,
        workspaceType('prepared', { initializer: true, initializerPermissions: configMaps }),
        workspaceType('cleaned', { terminator: true, terminatorPermissions: configMaps }),
        workspaceType('owned', { initializer: true, terminator: true }),
        workspaceType('twice', {
          initializer: true,
          extend: { with: [{ path: 'root:provider', name: 'prepared' }] },
        }),
      )
      for (const name of ['robot', 'other']) await provider.kubectl(['create', 'serviceaccount', name])
      await grant('robot', 'initialize', 'prepared')
      await grant('robot', 'terminate', 'cleaned')
      await grant('robot', 'initialize,terminate', 'owned')
      await grant('other', 'initialize', 'twice')
    })
    after(async () => {
      for (const child of children) child.kill()
      await discard(oriel)
    })

    async function grant(account: string, verbs: string, type: string): Promise<void> {
      const name = `${account}-${type}`
      const resource = '--resource=workspacetypes.tenancy.kcp.io'
      const verb = verbs.split(',').map(each => `--verb=${each}`)
      await provider.kubectl(['create', 'clusterrole', name, ...verb, resource, `--resource-name=${type}`])
      const subject = `--serviceaccount=default:${account}`
      await provider.kubectl(['create', 'clusterrolebinding', name, `--clusterrole=${name}`, subject])
    }

    async function urlOf(type: string, stage: string): Promise<string> {
      const found = await eventually(
        () => provider.kubectl.json<Type>(['get', 'workspacetype', type]),
        ({ status }) => status?.virtualWorkspaces?.length === 2,
      )
      return found.status?.virtualWorkspaces?.find(entry => entry.type === stage)?.url ?? ''
    }

    const create = async (name: string, type: string): Promise<Waiting> => {
      await apply(admin, workspace(name, type))
      return get(name, ({ spec, status }) => Boolean(spec.cluster) && status.phase !== 'Scheduling')
    }
    const get = (name: string, satisfied: (workspace: Waiting) => boolean): Promise<Waiting> =>
      eventually(() => admin.json<Waiting>(['get', 'workspace', name]), satisfied, 60_000)
    const isReady = ({ status }: Waiting): boolean => status.phase === 'Ready'
    const gone = (name: string): Promise<unknown> =>
      eventually(
        () => admin.try(['get', 'workspace', name]),
        ({ stderr }) => /NotFound/.test(stderr),
        60_000,
      )
    const remove = (name: string): Promise<unknown> => admin(['delete', 'workspace', name, '--wait=false'])

    /** A kubectl that has nothing but a service account's token and a URL. */
    async function as(
      account: string,
      url: string,
    ): Promise<(args: readonly string[], input?: string) => Promise<Outcome>> {
      const token = (await provider.kubectl(['create', 'token', account])).trim()
      const base = ['--kubeconfig', '/dev/null', '--insecure-skip-tls-verify', '-s', url, '--token', token]
      const env = { KUBECACHEDIR: join(oriel.directory, `cache-of-${account}`) }
      return (args, input = '') => run('kubectl', [...base, ...args], { input, env })
    }

    /** One of the examples, run with the service account's credentials. */
    async function start(example: string, url: string): Promise<ChildProcess> {
      const token = (await provider.kubectl(['create', 'token', 'robot'])).trim()
      const file = join(oriel.directory, 'robot.kubeconfig')
      const cluster = { name: 'c', cluster: { server: oriel.url, 'insecure-skip-tls-verify': true } }
      const config = {
        'current-context': 'c',
        clusters: [cluster],
        users: [{ name: 'c', user: { token } }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
      }
      await writeFile(file, JSON.stringify(config))
      const args = [join(root, 'dist/examples', `${example}.js`), url]
      const child = spawn(process.execPath, args, { env: { ...process.env, KUBECONFIG: file }, cwd: root })
      children.push(child)
      return child
    }

    it('are published in every type, with a condition', async () => {
      const { status } = await eventually(
        () => provider.kubectl.json<Type>(['get', 'workspacetype', 'cleaned']),
        found => found.status?.conditions?.some(c => c.type === 'Ready' && c.status === 'True') === true,
      )
      const base = `${oriel.viewsUrl}/services`
      assert.deepEqual(status?.virtualWorkspaces, [
        { url: `${base}/initializingworkspaces/${provider.cluster}:cleaned`, type: 'initializing' },
        { url: `${base}/terminatingworkspaces/${provider.cluster}:cleaned`, type: 'terminating' },
      ])
    })

    for (const view of ['initializingworkspaces', 'terminatingworkspaces']) {
      it(`serve logical clusters and nothing else over all clusters: ${view}`, async () => {
        const base = kubectlFor(oriel, 'shard-base').at(oriel.viewsUrl)
        const raw = async (path: string) =>
          JSON.parse(await base(['get', '--raw', `/services/${view}/root:whatever/clusters/*${path}`]))
        assert.deepEqual((await raw('/apis/core.kcp.io/v1alpha1')).resources, [
          {
            name: 'logicalclusters',
            singularName: 'logicalcluster',
            namespaced: false,
            kind: 'LogicalCluster',
            verbs: ['get', 'list', 'watch'],
            categories: ['kcp'],
            storageVersionHash: 'l84hS/aun10=',
          },
          {
            name: 'logicalclusters/status',
            singularName: '',
            namespaced: false,
            kind: 'LogicalCluster',
            verbs: null,
          },
        ])
        assert.deepEqual(
          (await raw('/apis')).groups.map((g: { name: string }) => g.name),
          ['core.kcp.io'],
        )
        const client = await clientOf(configAt(oriel, oriel.viewsUrl, 'shard-base'))
        const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'
        const path = `/services/${view}/root:whatever/clusters/*/apis`
        const { kind } = (await client(path, { headers: { accept } })).json()
        assert.equal(kind, 'APIGroupList', 'clients of kcp see no aggregated discovery here')
        client.close()
      })
    }

    it('let a controller prepare each new workspace', async () => {
      const child = await start('initializer', await urlOf('prepared', 'initializing'))
      await Promise.all(['one', 'two'].map(name => apply(admin, workspace(name, 'prepared'))))
      for (const name of ['one', 'two']) {
        await get(name, isReady)
        const data = await admin.at(`/clusters/root:${name}`)([
          'get',
          'configmap',
          'welcome',
          '-o',
          'jsonpath={.data}',
        ])
        assert.deepEqual(JSON.parse(data), { from: 'the initializer' })
      }
      child.kill()
    })

    it('wait for a controller that breaks off half-way, until it comes back', async () => {
      const url = await urlOf('prepared', 'initializing')
      const robot = await actor('robot', url)
      const { cluster } = (await create('broken', 'prepared')).spec
      await get('broken', ({ status }) => status.initializers?.length === 1)
      does(await robot.at(cluster)(['create', 'configmap', 'welcome', '-n', 'default']))
      assert.deepEqual(await robot.seen(), [cluster])
      assert.equal((await get('broken', () => true)).status.phase, 'Initializing')
      const child = await start('initializer', url)
      await get('broken', isReady)
      assert.deepEqual(await robot.seen(), [])
      child.kill()
    })

    it('let a controller clean up in each workspace that goes', async () => {
      const child = await start('terminator', await urlOf('cleaned', 'terminating'))
      await create('short', 'cleaned')
      await get('short', isReady)
      await apply(admin.at('/clusters/root:short'), configMap('locked', { finalizers: ['example.com/lock'] }))
      await remove('short')
      await gone('short')
      child.kill()
    })

    /** An initializer or terminator: a service account at a view's URL, over all clusters and in one. */
    async function actor(account: string, url: string) {
      const kubectl = await as(account, url)
      const at = (where: string) => (args: readonly string[], input?: string) =>
        kubectl(['-s', `${url}/clusters/${where}`, ...args], input)
      const raw = (path: string) => kubectl(['get', '--raw', `${new URL(url).pathname}/clusters/${path}`])
      const put = (path: string, object: object) =>
        kubectl(
          ['replace', '--raw', `${new URL(url).pathname}/clusters/${path}`, '-f', '-'],
          JSON.stringify(object),
        )
      const leave = (cluster: string, list: string, left: readonly string[]) =>
        at(cluster)([
          'patch',
          'logicalcluster',
          'cluster',
          '--subresource=status',
          '--type=merge',
          '-p',
          JSON.stringify({ status: { [list]: left } }),
        ])
      return {
        at,
        raw,
        put,
        leave,
        seen: async (): Promise<readonly string[]> => {
          const { code, stdout, stderr } = await raw(`*${logicalclusters}`)
          assert.equal(code, 0, stderr)
          return (JSON.parse(stdout) as List).items.map(clusterOf)
        },
      }
    }
    const does = ({ code, stderr }: Outcome): void => assert.equal(code, 0, stderr)
    const fails = ({ code, stderr }: Outcome, why: RegExp): void => {
      assert.notEqual(code, 0)
      assert.match(stderr, why)
    }

    it('show an initializer what waits for it, until it is done, and let it change nothing else', async () => {
      const url = await urlOf('prepared', 'initializing')
      const robot = await actor('robot', url)
      const other = await actor('other', await urlOf('twice', 'initializing'))
      const watcher = await watch(configAt(oriel, `${url}/clusters/*`, 'shard-base'), logicalclusters)
      const { cluster } = (await create('waits', 'twice')).spec
      const [own, others] = [`${provider.cluster}:prepared`, `${provider.cluster}:twice`]
      await watcher.next(about('ADDED', cluster))
      await get('waits', w => w.status.initializers?.join(' ') === `${own} ${others}`)
      assert.deepEqual(await robot.seen(), [cluster])
      fails(await (await actor('other', url)).raw(`*${logicalclusters}`), /orbidden/)

      const one = robot.at(cluster)
      does(await one(['create', 'configmap', 'mine', '-n', 'default']))
      const refusal = 'no rule allows get on core/secrets \\(none\\) in namespace default'
      fails(
        await one(['get', 'secret', 'none', '-n', 'default']),
        new RegExp(`initializer "${own}" denied by initializerPermissions: ${refusal}`),
      )
      // kcp looks at the length only.
      for (const left of judged ? [[own]] : [[own], ['root:other', own]])
        fails(
          await robot.leave(cluster, 'initializers', left),
          new RegExp(
            `status.initializers: Invalid value: .*: only removing the "${own}" initializer is supported`,
          ),
        )
      fails(
        await one(['label', 'logicalcluster', 'cluster', 'a=b']),
        /MethodNotAllowed|does not allow this method/,
      )
      does(await robot.leave(cluster, 'initializers', [others]))

      await watcher.next(about('DELETED', cluster))
      watcher.stop()
      fails(await robot.raw(`${cluster}${logicalclusters}/cluster`), /NotFound/)
      const content = `${cluster}/api/v1/namespaces/default/configmaps/mine`
      fails(await robot.raw(content), new RegExp(`initializer "${own}" cannot access this workspace`))
      does(await other.leave(cluster, 'initializers', []))
      await get('waits', isReady)
    })

    it('show a terminator what waits for it, until it is done, and let it change nothing else', async () => {
      const url = await urlOf('cleaned', 'terminating')
      const robot = await actor('robot', url)
      const watcher = await watch(configAt(oriel, `${url}/clusters/*`, 'shard-base'), logicalclusters)
      await create('ends', 'cleaned')
      const { cluster } = (await get('ends', isReady)).spec
      assert.deepEqual(await robot.seen(), [])
      await apply(admin.at('/clusters/root:ends'), configMap('locked', { finalizers: ['example.com/lock'] }))
      await remove('ends')
      await watcher.next(about('MODIFIED', cluster))
      const own = `${provider.cluster}:cleaned`
      await get('ends', w => w.status.phase === 'Terminating' && w.status.terminators?.join() === own)
      assert.deepEqual(await robot.seen(), [cluster])

      const one = robot.at(cluster)
      fails(
        await robot.leave(cluster, 'terminators', ['root:other']),
        new RegExp(
          `status.terminators: Invalid value: .*: only removing the "${own}" terminator is supported`,
        ),
      )
      fails(
        await one(['patch', 'logicalcluster', 'cluster', '--type=merge', '-p', '{"spec":{}}']),
        /MethodNotAllowed|does not allow this method/,
      )
      const content = `${cluster}/api/v1/namespaces/default/configmaps/locked`
      const locked = JSON.parse((await robot.raw(content)).stdout)
      fails(
        await robot.raw(`${cluster}/api/v1/namespaces/default/secrets`),
        /denied by terminatorPermissions/,
      )
      delete locked.metadata.finalizers
      does(await robot.put(content, locked))
      does(await robot.leave(cluster, 'terminators', []))
      await watcher.next(about('DELETED', cluster))
      watcher.stop()
      await gone('ends')
      fails(await robot.raw(content), /cannot access this workspace|not found|NotFound/)
    })

    it('act as the owner of the workspace where the type declares no rules', async () => {
      const robot = await actor('robot', await urlOf('owned', 'initializing'))
      const { cluster } = (await create('owners', 'owned')).spec
      does(await robot.at(cluster)(['create', 'namespace', 'mine']))
      await get('owners', w => w.status.initializers?.join() === `${provider.cluster}:owned`)
      does(await robot.leave(cluster, 'initializers', []))
      await get('owners', isReady)
      const last = await actor('robot', await urlOf('owned', 'terminating'))
      await remove('owners')
      await eventually(last.seen, seen => seen.length === 1)
      does(await last.leave(cluster, 'terminators', []))
      await gone('owners')
    })

    it('tell a person who is waited for, since when, and where they should be working', async function () {
      if (judged) this.skip()
      await create('stuck', 'owned')
      const url = await urlOf('owned', 'initializing')
      const { metadata, status } = await get('stuck', w => w.status.initializers?.length === 1)
      const { reason, message } = status.conditions?.find(({ type }) => type === 'ControllersFinished') ?? {}
      assert.equal(reason, 'WaitingForInitializers')
      assert.match(
        message ?? '',
        new RegExp(`^waiting since ${metadata.creationTimestamp?.slice(0, 10)}T.* for `),
      )
      assert.ok(message?.endsWith(` for ${provider.cluster}:owned at ${url}`), message)
    })
  }

const clusterOf = ({ metadata }: KubeObject): string => metadata.annotations?.['kcp.io/cluster'] ?? ''
const about = (type: string, cluster: string) => (seen: Seen) =>
  seen.type === type && seen.object.metadata?.annotations?.['kcp.io/cluster'] === cluster
