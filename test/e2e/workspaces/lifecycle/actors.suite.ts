import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { KubeObject } from '../../../../framework/index.ts'
import { skip } from '../../../support/notrun.ts'
import { eventually, fromRoot, type Outcome, run } from '../../../support/oriel.ts'
import { apply } from '../../../support/tenants.ts'
import { configAt, type Seen, watch } from '../../../support/watcher.ts'
import {
  configMap,
  create,
  get,
  gone,
  isReady,
  type Lifecycle,
  logicalclusters,
  remove,
  start,
  urlOf,
  type Waiting,
} from './scene.ts'

const judged = process.env.KCP_BIN !== undefined

interface List {
  readonly items: readonly Waiting[]
}

const clusterOf = ({ metadata }: KubeObject): string => metadata.annotations?.['kcp.io/cluster'] ?? ''

const about = (type: string, cluster: string) => (seen: Seen) =>
  seen.type === type && seen.object.metadata?.annotations?.['kcp.io/cluster'] === cluster

const does = ({ code, stderr }: Outcome): void => assert.equal(code, 0, stderr)

const fails = ({ code, stderr }: Outcome, why: RegExp): void => {
  assert.notEqual(code, 0)
  assert.match(stderr, why)
}

/** A kubectl with only a service account's token and a URL. */
async function as(
  scene: Lifecycle,
  account: string,
  url: string,
): Promise<(args: readonly string[], input?: string) => Promise<Outcome>> {
  const token = (await scene.provider.kubectl(['create', 'token', account])).trim()
  const base = ['--kubeconfig', '/dev/null', '--insecure-skip-tls-verify', '-s', url, '--token', token]
  const env = { KUBECACHEDIR: join(scene.oriel.directory, `cache-of-${account}`) }
  return (args, input = '') =>
    run('kubectl', [...base, ...fromRoot(args, new URL(url).origin)], { input, env })
}

/** An initializer or terminator: a service account at a view's URL, over all clusters and in one. */
async function actor(scene: Lifecycle, account: string, url: string) {
  const kubectl = await as(scene, account, url)
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

export const actors = (scene: Lifecycle): void => {
  it('wait for a controller that stops halfway, until it is back', async () => {
    const url = await urlOf(scene, 'prepared', 'initializing')
    const robot = await actor(scene, 'robot', url)
    const { cluster } = (await create(scene, 'broken', 'prepared')).spec
    await get(scene, 'broken', ({ status }) => status.initializers?.length === 1)
    does(await robot.at(cluster)(['create', 'configmap', 'welcome', '-n', 'default']))
    assert.deepEqual(await robot.seen(), [cluster])
    assert.equal((await get(scene, 'broken', () => true)).status.phase, 'Initializing')
    const child = await start(scene, 'initializer', url)
    await get(scene, 'broken', isReady)
    assert.deepEqual(await robot.seen(), [])
    child.kill()
  })

  it('serve an initializer its waiting workspaces until it is done, and allow no other changes', async () => {
    const url = await urlOf(scene, 'prepared', 'initializing')
    const robot = await actor(scene, 'robot', url)
    const other = await actor(scene, 'other', await urlOf(scene, 'twice', 'initializing'))
    const watcher = await watch(configAt(scene.oriel, `${url}/clusters/*`, 'shard-base'), logicalclusters)
    const { cluster } = (await create(scene, 'waits', 'twice')).spec
    const [own, others] = [`${scene.provider.cluster}:prepared`, `${scene.provider.cluster}:twice`]
    await watcher.next(about('ADDED', cluster))
    await get(scene, 'waits', w => w.status.initializers?.join(' ') === `${own} ${others}`)
    assert.deepEqual(await robot.seen(), [cluster])
    fails(await (await actor(scene, 'other', url)).raw(`*${logicalclusters}`), /orbidden/)

    const one = robot.at(cluster)
    does(await one(['create', 'configmap', 'mine', '-n', 'default']))
    const refusal = 'no rule allows get on core/secrets \\(none\\) in namespace default'
    fails(
      await one(['get', 'secret', 'none', '-n', 'default']),
      new RegExp(`initializer "${own}" denied by initializerPermissions: ${refusal}`),
    )
    // kcp checks the length only.
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
    await get(scene, 'waits', isReady)
  })

  it('serve a terminator its waiting workspaces until it is done, and allow no other changes', async () => {
    const url = await urlOf(scene, 'cleaned', 'terminating')
    const robot = await actor(scene, 'robot', url)
    const watcher = await watch(configAt(scene.oriel, `${url}/clusters/*`, 'shard-base'), logicalclusters)
    await create(scene, 'ends', 'cleaned')
    const { cluster } = (await get(scene, 'ends', isReady)).spec
    assert.deepEqual(await robot.seen(), [])
    await apply(
      scene.admin.at('/clusters/root:ends'),
      configMap('locked', { finalizers: ['example.com/lock'] }),
    )
    await remove(scene, 'ends')
    await watcher.next(about('MODIFIED', cluster))
    const own = `${scene.provider.cluster}:cleaned`
    await get(scene, 'ends', w => w.status.phase === 'Terminating' && w.status.terminators?.join() === own)
    assert.deepEqual(await robot.seen(), [cluster])

    const one = robot.at(cluster)
    fails(
      await robot.leave(cluster, 'terminators', ['root:other']),
      new RegExp(`status.terminators: Invalid value: .*: only removing the "${own}" terminator is supported`),
    )
    fails(
      await one(['patch', 'logicalcluster', 'cluster', '--type=merge', '-p', '{"spec":{}}']),
      /MethodNotAllowed|does not allow this method/,
    )
    const content = `${cluster}/api/v1/namespaces/default/configmaps/locked`
    const locked = JSON.parse((await robot.raw(content)).stdout)
    fails(await robot.raw(`${cluster}/api/v1/namespaces/default/secrets`), /denied by terminatorPermissions/)
    delete locked.metadata.finalizers
    does(await robot.put(content, locked))
    does(await robot.leave(cluster, 'terminators', []))
    await watcher.next(about('DELETED', cluster))
    watcher.stop()
    await gone(scene, 'ends')
    fails(await robot.raw(content), /cannot access this workspace|not found|NotFound/)
  })

  it('act as the owner of the workspace where the type declares no rules', async () => {
    const robot = await actor(scene, 'robot', await urlOf(scene, 'owned', 'initializing'))
    const { cluster } = (await create(scene, 'owners', 'owned')).spec
    does(await robot.at(cluster)(['create', 'namespace', 'mine']))
    await get(scene, 'owners', w => w.status.initializers?.join() === `${scene.provider.cluster}:owned`)
    does(await robot.leave(cluster, 'initializers', []))
    await get(scene, 'owners', isReady)
    const last = await actor(scene, 'robot', await urlOf(scene, 'owned', 'terminating'))
    await remove(scene, 'owners')
    await eventually(last.seen, seen => seen.length === 1)
    does(await last.leave(cluster, 'terminators', []))
    await gone(scene, 'owners')
  })

  it('report in a condition which controller is waited for, since when, and at which URL', async function () {
    if (judged) skip(this, 'kcp does not report this')
    await create(scene, 'stuck', 'owned')
    const url = await urlOf(scene, 'owned', 'initializing')
    const { metadata, status } = await get(scene, 'stuck', w => w.status.initializers?.length === 1)
    const { reason, message } = status.conditions?.find(({ type }) => type === 'ControllersFinished') ?? {}
    assert.equal(reason, 'WaitingForInitializers')
    assert.match(
      message ?? '',
      new RegExp(`^waiting since ${metadata.creationTimestamp?.slice(0, 10)}T.* for `),
    )
    assert.ok(message?.endsWith(` for ${scene.provider.cluster}:owned at ${url}`), message)
  })
}
