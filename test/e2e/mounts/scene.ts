import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { discard, eventually, type Kubectl, kubectlFor, type Oriel, startOriel } from '../../support/oriel.ts'
import { type Peer, type ProxyService, startPeer, startProxyService } from '../../support/servers/peer.ts'
import { remoteClusters } from '../../support/servers/remoteclusters.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'
import { testCertificates } from '../../support/wire.ts'

export const remote = (url: string, phase = 'Ready', name = 'my-remote-k8s') => `
apiVersion: example.io/v1alpha1
kind: RemoteCluster
metadata:
  name: ${name}
  annotations:
    experimental.tenancy.kcp.io/is-mount: "true"  # Required
spec:
  endpoint: "https://my-k8s-cluster.com"
status:
  URL: "${url}"  # Required: where requests will be proxied
  phase: "${phase}"                       # Required: mount status
`

export const mounted = (name: string, to = 'my-remote-k8s', type?: string) => `
apiVersion: tenancy.kcp.io/v1alpha1
kind: Workspace
metadata:
  name: ${name}
spec:
  mount:${type === undefined ? '' : `\n    type: ${type}`}
    ref:
      apiVersion: example.io/v1alpha1
      kind: RemoteCluster
      name: ${to}
`

interface Workspace extends KubeObject {
  readonly spec: { readonly URL?: string }
  readonly status: {
    readonly phase: string
    readonly conditions?: readonly { type: string; status: string; reason?: string; message?: string }[]
  }
}

export const condition = ({ status }: Workspace) =>
  status.conditions?.find(({ type }) => type === 'WorkspaceMountReady')

/**
 * A workspace `remote-workspace` that mounts a Kubernetes server, through a service that adds the identity of the user.
 */
export interface Mounts {
  readonly oriel: Oriel
  readonly peer: Peer
  readonly service: ProxyService
  readonly root: Kubectl
  readonly client: Client
}

export async function openMounts(): Promise<Mounts> {
  const files = await temporaryDirectory('mounts')
  const { authority } = testCertificates()
  await writeFile(join(files, 'ca.crt'), authority.certificate)
  await writeFile(join(files, 'tokens.csv'), 'stranger-token,stranger,1\nguest-token,guest,2\n')
  const args = [
    ...['--mount-allow', '127.0.0.1', '--mount-ca-file', join(files, 'ca.crt')],
    ...['--token-auth-file', join(files, 'tokens.csv')],
  ]
  const [oriel, peer] = await Promise.all([startOriel({ args }), startPeer()])
  const service = await startProxyService(peer.endpoint)
  const root = kubectlFor(oriel, 'root')
  const client = await clientOf(configAt(oriel, oriel.url, 'base'))
  const scene = { oriel, peer, service, root, client }
  await apply(root, remoteClusters)
  await root(['wait', '--for=condition=Established', 'crd/remoteclusters.example.io'])
  await root(['apply', '-f', '-'], remote(service.url))
  await root(['apply', '-f', '-'], mounted('remote-workspace'))
  await settled(scene, 'remote-workspace', 'Ready')
  return scene
}

export async function closeMounts({ client, service, oriel, peer }: Mounts): Promise<void> {
  client.close()
  await service.stop()
  await Promise.all([discard(oriel), peer.stop()])
}

export const workspace = (scene: Mounts, name: string) =>
  scene.root.json<Workspace>(['get', 'workspace', name])

export const settled = (scene: Mounts, name: string, phase: string) =>
  eventually(
    () => workspace(scene, name),
    found => found.status.phase === phase,
  )
