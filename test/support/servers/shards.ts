import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueAuthority } from '../../../cmd/certificates/certificates.ts'
import { type Oriel, startOriel } from '../oriel.ts'
import { privileged, writeProxyAuthority } from './frontproxy.ts'

/** A shard that has `root`, and one that has joined it. */
export interface Shards {
  readonly root: Oriel
  readonly beta: Oriel
  /** Starts the second one again with the data that it has. */
  restartBeta(): Promise<Oriel>
}

/** Two shards of one tree, with flags for both. They believe front proxies of `folder`, and each other. */
export async function startShards(folder: string, more: readonly string[] = []): Promise<Shards> {
  const authority = await issueAuthority()
  const common = [...(await writeProxyAuthority(folder)), ...more]
  const file = (name: string) => join(folder, name)
  for (const name of ['root', 'beta']) {
    await mkdir(file(name), { recursive: true })
    await writeFile(join(file(name), 'ca.crt'), authority.certificate)
    await writeFile(join(file(name), 'ca.key'), authority.key)
  }
  // Shards are reached by the URLs of their Shards; of this file only the credentials count.
  await writeFile(file('peers.kubeconfig'), privileged('https://127.0.0.1:1', [authority.certificate]))
  const peers = ['--logical-cluster-admin-kubeconfig', file('peers.kubeconfig')]
  const root = await startOriel({ directory: file('root'), args: [...common, ...peers] })
  await writeFile(file('root.kubeconfig'), privileged(root.url, [authority.certificate]))
  const joining = ['--shard-name', 'beta', '--root-shard-kubeconfig-file', file('root.kubeconfig')]
  const args = [...common, ...peers, ...joining, '--shard-external-url', root.url]
  const startBeta = () => startOriel({ directory: file('beta'), args })
  return { root, beta: await startBeta(), restartBeta: startBeta }
}
