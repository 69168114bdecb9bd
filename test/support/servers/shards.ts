import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueAuthority } from '../../../cmd/certificates/certificates.ts'
import { kubectlFor, type Oriel, startOriel } from '../oriel.ts'
import { apply, type Tenant } from '../tenants.ts'
import { privileged, writeProxyAuthority } from './frontproxy.ts'

/** A shard with `root`, and one that has joined it. */
export interface Shards {
  readonly root: Oriel
  readonly beta: Oriel
  /** Restarts the second one with its data. */
  restartBeta(): Promise<Oriel>
  /** Starts another shard of the tree. */
  join(name: string): Promise<Oriel>
}

/**
 * Two shards of one tree, with flags for both. They accept headers of front proxies of `folder`, and of each other. Others reach
 * the first one at `reached`.
 */
export async function startShards(
  folder: string,
  more: readonly string[] = [],
  reached: (url: string) => Promise<string> = async url => url,
): Promise<Shards> {
  const authority = await issueAuthority()
  const common = [...(await writeProxyAuthority(folder)), ...more]
  const file = (name: string) => join(folder, name)
  const prepare = async (name: string): Promise<void> => {
    await mkdir(file(name), { recursive: true })
    await writeFile(join(file(name), 'ca.crt'), authority.certificate)
    await writeFile(join(file(name), 'ca.key'), authority.key)
  }
  await prepare('root')
  // The URLs come from the Shard objects; only the credentials of this file are used.
  await writeFile(file('peers.kubeconfig'), privileged('https://127.0.0.1:1', [authority.certificate]))
  const peers = ['--logical-cluster-admin-kubeconfig', file('peers.kubeconfig')]
  const root = await startOriel({ directory: file('root'), args: [...common, ...peers] })
  await writeFile(file('root.kubeconfig'), privileged(await reached(root.url), [authority.certificate]))
  const joined = async (name: string): Promise<Oriel> => {
    await prepare(name)
    const joining = ['--shard-name', name, '--root-shard-kubeconfig-file', file('root.kubeconfig')]
    const args = [...common, ...peers, ...joining, '--shard-external-url', root.url]
    return startOriel({ directory: file(name), args })
  }
  return { root, beta: await joined('beta'), restartBeta: () => joined('beta'), join: joined }
}

/** A workspace below `root` on a shard, Ready. */
export async function tenantOn(
  shards: Shards,
  shard: 'root' | 'beta',
  name: string,
  more: object = {},
): Promise<Tenant> {
  const root = kubectlFor(shards.root, 'root')
  const location = { selector: { matchLabels: { name: shard } } }
  await apply(root, {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name },
    spec: { location, ...more },
  })
  await root(['wait', '--for=jsonpath={.status.phase}=Ready', '--timeout=60s', `workspace/${name}`])
  const cluster = await root(['get', 'workspace', name, '-o', 'jsonpath={.spec.cluster}'])
  const kubectl = kubectlFor(shards[shard], 'base').at(`/clusters/${cluster}`)
  return { path: `root:${name}`, cluster, kubectl }
}
