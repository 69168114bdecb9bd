import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import {
  compiled,
  discard,
  eventually,
  type Kubectl,
  kubectlFor,
  type Oriel,
  run,
  startOriel,
} from '../../support/oriel.ts'
import { mount, remoteClusters } from '../../support/servers/remoteclusters.ts'
import { apply, createWorkspaces } from '../../support/tenants.ts'

interface Workspace extends KubeObject {
  readonly spec: { readonly URL: string; readonly mount?: object }
  readonly status: { readonly phase: string }
}

describe('the tree of workspaces with mounts and links', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let root: Kubectl
  let url: string

  before(async () => {
    oriel = await startOriel({ args: ['--store', 'memory:'] })
    root = kubectlFor(oriel, 'root')
    const [org] = await createWorkspaces(oriel, ['org'])
    assert.ok(org)
    const team = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: 'team' } }
    await apply(org.kubectl, team)
    await org.kubectl(['wait', '--for=jsonpath={.status.phase}=Ready', 'workspace/team'])
    url = (await root.json<Workspace>(['get', 'workspace', 'org'])).spec.URL
    await apply(root, remoteClusters)
    await root(['wait', '--for=condition=Established', 'crd/remoteclusters.example.io'])
    await apply(
      root,
      ...mount('remote', 'https://remote.example.com/base'),
      ...mount('parent', url.replace(/:org$/, '')),
      ...mount('shared', `${url}:team`, 'Workspace'),
      ...mount('moved', url, 'Redirect'),
      ...mount('circle', `${url.replace(/org$/, 'circle')}`, 'Workspace'),
      ...mount('waiting', 'https://waiting.example.com', 'URL', 'Connecting'),
      ...mount('lost', 'https://lost.example.com').slice(1),
    )
    await eventually(
      () => root.json<{ items: readonly Workspace[] }>(['get', 'workspaces']),
      ({ items }) => items.length === 8 && items.every(({ status }) => /^(Ready|Un)/.test(status.phase)),
    )
  })
  after(() => discard(oriel))

  it('is printed with workspaces, mounts and links', async () => {
    const { code, stdout, stderr } = await run(process.execPath, [
      ...[compiled, 'tree', '--kubeconfig', oriel.kubeconfig, '--context', 'root'],
    ])
    assert.equal(code, 0, stderr)
    assert.deepEqual(stdout.split('\n'), [
      'root',
      `├── circle → root:circle (link, Unavailable: ${url.replace(/org$/, 'circle')} is part of a loop of mounts)`,
      '├── lost → ? (mount, Unavailable: RemoteCluster "/lost" not found)',
      '├── moved → root:org (redirect)',
      '├── org',
      '│   └── team',
      `├── parent → ${url.replace(/:org$/, '')} (mount)`,
      '├── remote → https://remote.example.com/base (mount)',
      '├── shared → root:org:team (link)',
      '└── waiting → https://waiting.example.com (mount, Unavailable: Mount is not reporting ready. See RemoteCluster "waiting" status for more details: its phase is "Connecting")',
      '',
    ])
  })

  it('reports invalid servers, and workspaces without permission', async () => {
    for (const [path, problem] of [
      ['', /is not the URL of a workspace: give --server a URL such as/],
      ['/clusters/root:nothing', /Listing the workspaces of root:nothing failed: /],
    ] as const) {
      const server = ['--server', oriel.url.replace('127.0.0.1', 'localhost') + path]
      const args = [compiled, 'tree', '--kubeconfig', oriel.kubeconfig, '--context', 'root', ...server]
      const { code, stderr } = await run(process.execPath, args)
      assert.equal(code, 1)
      assert.match(stderr, problem)
    }
  })

  // KUBECTL_WS: the binary of the plugin; without it, the requests that the plugin sends.
  it('is walked by kubectl ws tree, which never fails on it', async () => {
    const walked = process.env.KUBECTL_WS ? await byPlugin(process.env.KUBECTL_WS) : await byWalking('root')
    assert.deepEqual(walked.toSorted(), [
      ...['circle [m]', 'lost [m]', 'moved [m]', 'org', 'parent [m]', 'remote [m]', 'root', 'shared [m]'],
      ...['team', 'waiting [m]'],
    ])
  })

  async function byPlugin(plugin: string): Promise<readonly string[]> {
    const args = ['tree', '--kubeconfig', oriel.kubeconfig, '--context', 'root']
    const { code, stdout, stderr } = await run(plugin, args)
    assert.equal(code, 0, stderr)
    return stdout.split('\n').flatMap(line => /[a-z].*$/.exec(line)?.[0] ?? [])
  }

  async function byWalking(path: string): Promise<readonly string[]> {
    const { items } = await root.at(`/clusters/${path}`).json<{ items: readonly Workspace[] }>(['get', 'ws'])
    const below = await Promise.all(
      items.map(async ({ metadata, spec }) => {
        if (spec.mount !== undefined) return [`${metadata.name} [m]`]
        const at = /\/clusters\/([^/]+)$/.exec(spec.URL)?.[1]
        assert.ok(at, 'the plugin ends at a URL that is no workspace')
        return byWalking(at)
      }),
    )
    return [path.split(':').at(-1) ?? '', ...below.flat()]
  }
})
