import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../framework/index.ts'
import { type Client, clientOf } from '../support/client.ts'
import { discard, eventually, kubectlFor, type Oriel, readText, startOriel } from '../support/oriel.ts'
import { readPeer, startProxyService } from '../support/servers/peer.ts'
import { mount, remoteClusters } from '../support/servers/remoteclusters.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../support/tenants.ts'
import { configAt } from '../support/watcher.ts'
import { testCertificates } from '../support/wire.ts'
import { expect, fixture, namespaces, post, type Target, widgetsIn } from './fixture.ts'

const claimed = [
  ...['namespaces', 'configmaps', 'secrets', 'events', 'resourcequotas'].map(resource => ({
    group: '',
    resource,
  })),
  { group: 'coordination.k8s.io', resource: 'leases' },
]
const claims = claimed.map(each => ({ ...each, verbs: ['*'] }))
const accepted = claims.map(claim => ({ ...claim, selector: { matchAll: true }, state: 'Accepted' }))

/** A workspace that serves fixture F as a CRD. */
export async function workspaceTarget(oriel: Oriel): Promise<Target> {
  const [tenant] = (await createWorkspaces(oriel, ['workspace'])) as [Tenant]
  await apply(tenant.kubectl, fixture)
  await tenant.kubectl([
    'wait',
    '--for=condition=Established',
    '--timeout=60s',
    'crd',
    fixture.metadata.name ?? '',
  ])
  return targetAt(await clientOf(configAt(oriel, `${oriel.url}/clusters/${tenant.path}`)), 404)
}

/** A consumer of an export of fixture F, by the view's URL for that logical cluster. */
export async function viewTarget(oriel: Oriel): Promise<Target> {
  const [provider, tenant] = (await createWorkspaces(oriel, ['provider', 'consumer'])) as [Tenant, Tenant]
  const name = await exportApi(provider, fixture, claims)
  await bind(tenant, bindingOf(provider, name, accepted))
  const url = await publishedUrl(provider, name)
  return targetAt(await clientOf(configAt(oriel, `${url}/clusters/${tenant.cluster}`)), 403)
}

/** Lets a server under test mount clusters on this machine. */
export async function mountFlags(): Promise<readonly string[]> {
  if (process.env.KCP_BIN) return []
  const file = join(await temporaryDirectory('mount'), 'ca.crt')
  await writeFile(file, testCertificates().authority.certificate)
  return ['--mount-allow', '127.0.0.1', '--mount-ca-file', file]
}

/** Mounts another server, which serves a kind, at `root:mounted`. */
export async function mountRemote(oriel: Oriel, crd: KubeObject): Promise<{ stop(): Promise<void> }> {
  const remote = await startOriel({ args: ['--store', 'memory:'] })
  const peer = readPeer(await readText(remote.kubeconfig))
  const service = await startProxyService(peer.endpoint)
  const root = kubectlFor(oriel, 'root')
  await apply(kubectlFor(remote, 'root').at(new URL(peer.endpoint.url).pathname), crd)
  await apply(root, remoteClusters as KubeObject)
  await root(['wait', '--for=condition=Established', '--timeout=60s', 'crd', 'remoteclusters.example.io'])
  await apply(root, ...mount('mounted', service.url))
  await root(['wait', '--for=jsonpath={.status.phase}=Ready', '--timeout=60s', 'workspace', 'mounted'])
  return {
    async stop() {
      await service.stop()
      await discard(remote)
    },
  }
}

/** A remote cluster that serves fixture F, by the URL of the workspace at which it is mounted. */
export async function mountTarget(oriel: Oriel): Promise<Target> {
  const remote = await mountRemote(oriel, fixture)
  const client = await clientOf(configAt(oriel, `${oriel.url}/clusters/root:mounted`))
  await eventually(
    () => client(widgetsIn('default')),
    ({ status }) => status === 200,
  )
  const target = targetAt(client, 404)
  return {
    ...target,
    async close() {
      await target.close()
      await remote.stop()
    },
  }
}

function targetAt(client: Client, unknown: Target['unknown']): Target {
  let count = 0
  const fresh = () => `w${++count}`
  const namespace = async (): Promise<string> => {
    const name = fresh()
    await expect(201, client(namespaces, post(namespaceOf(name))))
    return name
  }
  return {
    client,
    close: async () => client.close(),
    fresh,
    namespace,
    unknown,
    isView: unknown === 403,
    isApart: false,
    isKcp: process.env.KCP_BIN !== undefined,
  }
}

const namespaceOf = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
})
