import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { blocksOf } from '../../support/markdown.ts'
import { compiled, eventually, type Kubectl, kubectlFor, readText, run } from '../../support/oriel.ts'
import { root } from '../../support/source.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, bind, bindingOf, exportApi, type Tenant } from '../../support/tenants.ts'

interface Installation {
  readonly child: ChildProcess
  readonly banner: string
  readonly url: string
  readonly kubeconfig: string
  readonly directory: string
  readonly root: Kubectl
  /** Standard output and standard error so far. */
  output(): string
  /** Resolves with the exit code when no process writes to the pipes any more, that of no shard either. */
  readonly closed: Promise<number | null>
}

async function startShards(directory: string, more: readonly string[] = []): Promise<Installation> {
  const args = ['start', '--shards', '2', '--data-directory', directory, '--port', '0', ...more]
  // In a process group of its own, as a shell starts it.
  const child = spawn(process.execPath, [compiled, ...args], { detached: true })
  const closed = once(child, 'close').then(([code]) => code)
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  const banner = await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${printed}`)
      return printed
    },
    text => text.includes('kubectl get workspaces'),
    120_000,
  )
  const url = /https:\/\/[^\s/]+:\d+/.exec(banner)?.[0] ?? ''
  const kubeconfig = join(directory, 'admin.kubeconfig')
  const root = kubectlFor({ directory, kubeconfig, url }, 'root')
  return { child, banner, url, kubeconfig, directory, root, closed, output: () => printed }
}

const interrupt = async ({ child, closed }: Installation): Promise<number | null> => {
  process.kill(-(child.pid ?? 0), 'SIGINT')
  return closed
}

const names = ['root', 'shard-1']

const widgets: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.far.example.com' },
  spec: {
    group: 'far.example.com',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

const on = (shard: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: `on-${shard}` },
  spec: { location: { selector: { matchLabels: { name: shard } } } },
})

async function tenantOn(shard: string, { root }: Installation): Promise<Tenant> {
  await apply(root, on(shard))
  const name = `on-${shard}`
  await root(['wait', '--for=jsonpath={.status.phase}=Ready', '--timeout=60s', `workspace/${name}`])
  const cluster = await root(['get', 'workspace', name, '-o', 'jsonpath={.spec.cluster}'])
  return { path: `root:${name}`, cluster, kubectl: root.at(`/clusters/root:${name}`) }
}

const urlsOf = (provider: Tenant, name: string) => async (): Promise<readonly string[]> => {
  const args = ['get', 'apiexportendpointslice', name, '-o', 'jsonpath={.status.endpoints[*].url}']
  return (await provider.kubectl(args)).split(' ').filter(url => url !== '')
}

/** A banner with other ports, durations and directories. */
const withoutPlaces = (banner: string, directory = '/home/ada/.oriel'): string =>
  banner
    .replaceAll(directory, 'DIRECTORY')
    .replaceAll(/localhost:\d+/g, 'localhost')
    .replaceAll(/\d+ ms/g, 'N ms')

describe('oriel start --shards 2', function () {
  this.timeout(180_000)
  let directory: string
  let running: Installation
  let tenants: readonly Tenant[]
  before(async () => {
    directory = await temporaryDirectory('startshards')
    running = await startShards(directory, ['--log-level', 'info'])
  })
  after(() => interrupt(running))

  it('prints the front proxy and the shards, and creates workspaces on each', async () => {
    const [proxyUrl, ...shardUrls] = running.banner.match(/https:\/\/localhost:\d+(?= )/g) ?? []
    assert.equal(new Set([proxyUrl, ...shardUrls]).size, 3)
    const { items } = await running.root.json<{ items: KubeObject[] }>(['get', 'shards'])
    assert.deepEqual(
      items.map(({ metadata, spec }) => [metadata.name, spec]),
      names.map((name, i) => [
        name,
        { baseURL: shardUrls[i + 1], externalURL: running.url, virtualWorkspaceURL: shardUrls[i + 1] },
      ]),
    )
    tenants = await Promise.all(names.map(name => tenantOn(name, running)))
    for (const [i, { kubectl }] of tenants.entries()) {
      const namespace = await kubectl.json<KubeObject>(['get', 'namespace', 'default'])
      assert.equal(namespace.metadata.annotations?.['kcp.io/cluster'], tenants[i]?.cluster)
    }
  })

  it('prints what its page shows', async () => {
    const blocks = blocksOf(await readText(join(root, 'docs/mounts.md')))
    const at = blocks.findIndex(({ text }) => text === 'oriel start --shards 2\n')
    const shown = blocks[at + 1]?.text.trim() ?? assert.fail()
    assert.equal(
      withoutPlaces(running.banner, directory).slice(0, withoutPlaces(shown).length),
      withoutPlaces(shown),
    )
  })

  it('shares APIs between the shards, and serves their views to the same administrator', async () => {
    const [consumer, provider] = tenants
    assert.ok(consumer && provider)
    const group = await exportApi(provider, widgets, [])
    await bind(consumer, bindingOf(provider, group, []))
    const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'far' } }
    await eventually(
      () => consumer.kubectl.try(['apply', '-f', '-'], JSON.stringify(widget)),
      ({ code }) => code === 0,
    )
    const [url = ''] = await eventually(urlsOf(provider, group), urls => urls.length > 0)
    const base = await running.root(['get', 'shard', 'root', '-o', 'jsonpath={.spec.virtualWorkspaceURL}'])
    assert.equal(url, `${base}/services/apiexport/${provider.cluster}/${group}`)
    const view = running.root.at(`${url}/clusters/*`)
    const list = ['get', `widgets.${group}`, '-A', '-o', 'name']
    await eventually(
      () => view.try(list),
      ({ stdout }) => stdout.includes('/far'),
    )
  })

  it('list the URL of each shard with consumers, and no other, in the endpoint slice', async () => {
    const [consumer, provider] = tenants
    assert.ok(consumer && provider)
    const { group } = widgets.spec as { group: string }
    const urls = urlsOf(provider, group)
    await bind(provider, bindingOf(provider, group, []))
    await eventually(urls, found => found.length === 2)
    await consumer.kubectl(['delete', 'apibinding', group])
    const [left, ...more] = await eventually(urls, found => found.length === 1)
    const own = await running.root(['get', 'shard', 'shard-1', '-o', 'jsonpath={.spec.virtualWorkspaceURL}'])
    assert.deepEqual([left?.startsWith(`${own}/`), more], [true, []])
  })

  it('accepts users of oriel user add', async () => {
    const output = join(directory, 'alice.kubeconfig')
    const args = ['user', 'add', 'alice', '--data-directory', directory, '--output', output]
    const { stdout, stderr } = await run(process.execPath, [compiled, ...args])
    assert.equal(stdout, `Added user alice with the kubeconfig ${output}.\n`, stderr)
    const alice = kubectlFor({ directory, kubeconfig: output, url: running.url }, 'root')
    assert.match(await alice(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}']), /^alice$/)
  })

  it('ends all processes with one SIGINT of the terminal, and starts again with the same objects', async () => {
    assert.equal(await interrupt(running), 0, running.output())
    assert.equal(running.output().match(/"msg":"the server has stopped"/g)?.length, 1, running.output())
    running = await startShards(directory)
    for (const { path: workspace, cluster } of tenants) {
      const kubectl = running.root.at(`/clusters/${workspace}`)
      const { metadata } = await kubectl.json<KubeObject>(['get', 'namespace', 'default'])
      assert.equal(metadata.annotations?.['kcp.io/cluster'], cluster)
    }
    // At new ports, of which the shards learn: an export of the root shard is bound on the other one.
    tenants = tenants.map(tenant => ({ ...tenant, kubectl: running.root.at(`/clusters/${tenant.path}`) }))
    const [near, far] = tenants
    assert.ok(near && far)
    const crd = { ...widgets, spec: { ...(widgets.spec as object), group: 'near.example.com' } }
    const group = await exportApi(near, crd, [])
    await eventually(
      () => far.kubectl.try(['apply', '-f', '-'], JSON.stringify(bindingOf(near, group, []))),
      ({ code }) => code === 0,
    )
    await eventually(urlsOf(near, group), urls => urls.length === 1)
  })

  it('refuses a second process and one server in its directory', async () => {
    const start = (...args: readonly string[]) =>
      run(process.execPath, [compiled, 'start', '--data-directory', directory, '--port', '0', ...args])
    assert.match((await start('--shards', '2')).stderr, /^oriel: Another oriel runs on [^\n]*\n$/)
    running.child.kill('SIGKILL')
    await running.closed
    for (const flags of [[], ['--replicas', '2']]) {
      const { code, stderr } = await start(...flags)
      assert.equal(code, 1)
      assert.equal(
        stderr,
        `oriel: ${directory} has the objects of several shards: add --shards, or choose another --data-directory.\n`,
      )
    }
    running = await startShards(directory)
  })
})

describe('flags of oriel start --shards', () => {
  const cases: readonly [args: readonly string[], message: RegExp][] = [
    [['--shards', '0'], /argument '0' is invalid\. Give a whole number from 1 to 16\./],
    [['--shards', '2', '--replicas', '2'], /^oriel: --shards starts one process for each shard: remove/],
    [['--shards', '2', '--shard-name', 'eu'], /^oriel: --shards sets --shard-name for each shard: remove/],
    [['--shards', '2', '--store', 'etcd://127.0.0.1:1'], /^oriel: --shards stores .* remove --store etcd:/],
    [['--shards', '2', '--audit-log-path', 'a'], /^oriel: The shards cannot write to the same file: give/],
    [['--shards', '2', '--port', '65535'], /^oriel: .* choose a port up to 65533\.\n$/],
  ]
  for (const [args, message] of cases)
    it(`refuses ${args.join(' ')} with one sentence`, async () => {
      const more = ['--data-directory', await temporaryDirectory('shardflags')]
      const { code, stdout, stderr } = await run(process.execPath, [compiled, 'start', ...args, ...more])
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, message)
    })

  it('end with the reason of the first process that cannot start', async () => {
    const directory = await temporaryDirectory('shardstart')
    const args = ['--shards', '2', '--data-directory', directory, '--port', '0', '--view', 'nowhere.js']
    const { code, stdout, stderr } = await run(process.execPath, [compiled, 'start', ...args])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^oriel: [^\n]*nowhere\.js[^\n]*\n$/)
  })

  it('refuse the data directory of one server', async () => {
    const directory = await temporaryDirectory('oneserver')
    await mkdir(join(directory, 'store'))
    const args = ['--shards', '2', '--data-directory', directory]
    const { stderr } = await run(process.execPath, [compiled, 'start', ...args])
    assert.equal(
      stderr,
      `oriel: ${directory} has the objects of one server: choose another --data-directory, or remove --shards.\n`,
    )
  })
})
