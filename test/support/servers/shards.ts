import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueAuthority } from '../../../cmd/certificates/certificates.ts'
import { type Oriel, startOriel } from '../oriel.ts'
import { privileged, writeProxyAuthority } from './frontproxy.ts'

/** A shard with `root`, and one that has joined it. */
export interface Shards {
  readonly root: Oriel
  readonly beta: Oriel
  /** Restarts the second one with its data. */
  restartBeta(): Promise<Oriel>
}

/** Two shards of one tree, with flags for both. They accept headers of front proxies of `folder`, and of each other. */
export async function startShards(folder: string, more: readonly string[] = []): Promise<Shards> {
  const authority = await issueAuthority()
  const common = [...(await writeProxyAuthority(folder)), ...more]
  const file = (name: string) => join(folder, name)
  for (const name of ['root', 'beta']) {
    await mkdir(file(name), { recursive: true })
    await writeFile(join(file(name), 'ca.crt'), authority.certificate)
    await writeFile(join(file(name), 'ca.key'), authority.key)
  }
  // The URLs come from the Shard objects; only the credentials of this file are used.
  await writeFile(file('peers.kubeconfig'), privileged('https://127.0.0.1:1', [authority.certificate]))
  const peers = ['--logical-cluster-admin-kubeconfig', file('peers.kubeconfig')]
  const root = await startOriel({ directory: file('root'), args: [...common, ...peers] })
  await writeFile(file('root.kubeconfig'), privileged(root.url, [authority.certificate]))
  const joining = ['--shard-name', 'beta', '--root-shard-kubeconfig-file', file('root.kubeconfig')]
  const args = [...common, ...peers, ...joining, '--shard-external-url', root.url]
  const startBeta = () => startOriel({ directory: file('beta'), args })
  return { root, beta: await startBeta(), restartBeta: startBeta }
}
