import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf } from '../../support/client.ts'
import {
  compiled,
  discard,
  eventually,
  type Kubectl,
  type Oriel,
  run,
  startOriel,
} from '../../support/oriel.ts'
import { type Peer, startPeer } from '../../support/servers/peer.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'

const secretsClaim = {
  group: '',
  resource: 'secrets',
  verbs: ['get', 'list', 'watch'],
  selector: { matchAll: true },
}

const binding = (state: 'Accepted' | 'Rejected'): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: 'mounts' },
  spec: {
    reference: { export: { path: 'root', name: 'mounts.contrib.kcp.io' } },
    permissionClaims: [{ ...secretsClaim, state }],
  },
})

const secret = (kubeconfig: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'peer', namespace: 'default' },
  stringData: { kubeconfig },
})

const kubeCluster = (name: string, identity: object = {}): KubeObject => ({
  apiVersion: 'mounts.contrib.kcp.io/v1alpha1',
  kind: 'KubeCluster',
  metadata: { name },
  spec: { secretRef: { name: 'peer' }, identity },
})

const workspace = (name: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: { mount: { ref: { apiVersion: 'mounts.contrib.kcp.io/v1alpha1', kind: 'KubeCluster', name } } },
})

interface KubeCluster extends KubeObject {
  readonly status: {
    readonly URL: string
    readonly phase: string
    readonly conditions: readonly {
      readonly type: string
      readonly status: string
      readonly message?: string
    }[]
  }
}

describe('clusters by kubeconfig', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let peer: Peer
  let fleet: Tenant
  let client: Client
  const through = (name: string): Kubectl => fleet.kubectl.at(`/clusters/root:fleet:${name}`)

  before(async () => {
    // The process at that address serves other views; it does not run in this test.
    const otherViewUrl = ['--shard-virtual-workspace-url', 'https://127.0.0.1:1']
    const args = ['--mount-allow', '127.0.0.1', ...otherViewUrl]
    ;[oriel, peer] = await Promise.all([startOriel({ args }), startPeer()])
    const [made] = await createWorkspaces(oriel, ['fleet'])
    assert.ok(made)
    fleet = made
    client = await clientOf(configAt(oriel, oriel.url, 'base'))
    await apply(fleet.kubectl, binding('Rejected'))
    await fleet.kubectl(['wait', '--for=condition=Ready', 'apibinding/mounts'])
    await apply(fleet.kubectl, secret(peer.kubeconfig))
    await apply(fleet.kubectl, kubeCluster('shared', { mode: 'Shared' }), kubeCluster('acting'))
    await apply(fleet.kubectl, workspace('shared'), workspace('acting'))
  })
  after(async () => {
    client.close()
    await Promise.all([discard(oriel), peer.stop()])
  })

  const at = (name: string, satisfied: (found: KubeCluster) => boolean) =>
    eventually(() => fleet.kubectl.json<KubeCluster>(['get', 'kubecluster', name]), satisfied)
  const message = ({ status }: KubeCluster, type: string) =>
    status.conditions?.find(condition => condition.type === type)?.message

  it('are not probed before the workspace accepts the claim on secrets', async () => {
    const found = await at(
      'shared',
      ({ status }) => message({ status } as KubeCluster, 'ClusterSecretReady') !== undefined,
    )
    assert.equal(
      message(found, 'ClusterSecretReady'),
      'the Secret may not be read: accept the permission claim on secrets in the APIBinding',
    )
    await apply(fleet.kubectl, binding('Accepted'))
    const ready = await at('shared', ({ status }) => status.phase === 'Ready')
    assert.equal(
      ready.status.URL,
      `${oriel.url}/services/mounts/clusters/${fleet.cluster}/apis/mounts.contrib.kcp.io/v1alpha1/kubeclusters/shared/proxy`,
    )
  })

  it('are workspaces to kubectl', async () => {
    await fleet.kubectl(['wait', '--for=condition=WorkspaceMountReady', 'workspace/shared', '--timeout=60s'])
    assert.match(await through('shared')(['get', 'namespaces', '-o', 'name']), /namespace\/default/)
    await through('shared')(['create', 'configmap', 'by-mount', '--from-literal=a=b'])
    assert.equal(await through('shared')(['get', 'configmap', 'by-mount', '-o', 'jsonpath={.data.a}']), 'b')
  })

  it('see the user, with a prefix, or one fixed user', async () => {
    await fleet.kubectl(['wait', '--for=condition=WorkspaceMountReady', 'workspace/acting', '--timeout=60s'])
    const whoami = ['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}']
    const outcome = await through('acting').try(whoami)
    const own = await through('shared')(whoami)
    assert.ok(!own.startsWith('oriel:'), own)
    // If the peer's user may not impersonate, the error names the impersonated user.
    assert.match(outcome.stdout + outcome.stderr, /oriel:kcp-admin/)
  })

  it('are explained with the user that the cluster sees', async () => {
    const explained = async (name: string): Promise<string> => {
      const access = ['--kubeconfig', oriel.kubeconfig, '--server', `${oriel.url}/clusters/root:fleet`]
      return (await run(process.execPath, [compiled, 'explain', 'get', `workspaces/${name}`, ...access]))
        .stdout
    }
    assert.match(
      await explained('acting'),
      /without credentials of the user.*impersonates the user.*"oriel:"/s,
    )
    assert.match(await explained('shared'), /spec\.identity\.mode: Shared/)
  })

  it('watch, and end their watches when the kubeconfig changes', async () => {
    const path = '/clusters/root:fleet:shared/api/v1/namespaces/default/configmaps'
    const watch = await client.watch(`${path}?watch=true&resourceVersion=0`)
    assert.ok(await watch.next())
    await apply(
      fleet.kubectl,
      secret(
        peer.kubeconfig
          .replace(/"token":"[^"]*"/, '"token":"wrong"')
          .replace(/"client-key-data":"[^"]*"/, '"client-key-data":""'),
      ),
    )
    for (let event = await watch.next(); event !== undefined; ) event = await watch.next()
    const found = await at('shared', ({ status }) => status.phase === 'Connecting')
    assert.match(message(found, 'ClusterReady') ?? '', /the cluster refuses the credentials/)
    await eventually(
      () => client(path, { headers: { accept: 'application/json' } }),
      reply => reply.status === 503 && /^Not available since .*Connecting"$/.test(reply.json().message ?? ''),
    )
    await apply(fleet.kubectl, secret(peer.kubeconfig))
    await at('shared', ({ status }) => status.phase === 'Ready')
    await eventually(
      () => client(path),
      reply => reply.status === 200,
    )
  })

  it('are refused when the kubeconfig points to this server', async () => {
    for (const [from, to, problem] of [
      ['"token":', '"tokenFile":', /must not set tokenFile: set token instead/],
      [
        '"certificate-authority-data":',
        '"certificate-authority":',
        /must not set certificate-authority: set certificate-authority-data/,
      ],
      ['"current-context":"peer"', '"current-context":"other"', /has no context "other"/],
      ['{', '[', /is not YAML/],
    ] as const) {
      if (!peer.kubeconfig.includes(from)) continue
      await apply(fleet.kubectl, secret(peer.kubeconfig.replace(from, to)))
      await at('shared', found => problem.test(message(found, 'ClusterSecretReady') ?? ''))
    }
    const inside = peer.kubeconfig.replace(/"server":"[^"]*"/, '"server":"https://169.254.169.254"')
    await apply(fleet.kubectl, secret(inside))
    const found = await at('shared', each =>
      /has no public address/.test(message(each, 'ClusterReady') ?? ''),
    )
    assert.notEqual(found.status.phase, 'Ready')
    await apply(fleet.kubectl, secret(peer.kubeconfig))
    await at('shared', ({ status }) => status.phase === 'Ready')
  })

  it('require the verb proxy', async () => {
    const { code, stdout } = await fleet.kubectl.try([
      'auth',
      'can-i',
      'proxy',
      'kubeclusters.mounts.contrib.kcp.io/shared',
    ])
    assert.deepEqual([code, stdout.trim()], [0, 'yes'])
    const { status } = await at('shared', () => true)
    const headers = { 'impersonate-user': 'guest', 'impersonate-group': 'system:authenticated' }
    const refused = await client(`${new URL(status.URL).pathname}/api/v1/pods`, { headers })
    assert.equal(refused.status, 403)
    assert.match(
      refused.json().message ?? '',
      /cannot get resource "kubeclusters\/proxy" .*: this requires the verb "proxy" on the resource "kubeclusters"$/,
    )
  })

  it('are not reached by an administrator of one namespace, by a URL with this namespace', async () => {
    const subject = ['--user=guest', '--clusterrole=cluster-admin']
    await fleet.kubectl(['create', 'rolebinding', 'guest', '-n', 'default', ...subject])
    await fleet.kubectl([
      ...['create', 'clusterrolebinding', 'guest', '--clusterrole=system:kcp:workspace:access'],
      '--user=guest',
    ])
    const { status } = await at('shared', () => true)
    const headers = { 'impersonate-user': 'guest', 'impersonate-group': 'system:authenticated' }
    const own = () => client(`/clusters/${fleet.cluster}/api/v1/namespaces/default/secrets`, { headers })
    await eventually(own, reply => reply.status === 200)
    const path = new URL(status.URL).pathname.replace('/kubeclusters/', '/namespaces/default/kubeclusters/')
    const reply = await client(`${path}/api/v1/namespaces`, { headers })
    assert.equal(reply.status, 404, reply.text)
  })

  it('are deleted with their object', async () => {
    await fleet.kubectl(['delete', 'kubecluster', 'shared'])
    await eventually(
      () => client('/clusters/root:fleet:shared/api'),
      ({ status }) => status === 503,
    )
  })
})
