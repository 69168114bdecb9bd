import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueAuthority, issueServing } from '../../../cmd/certificates/certificates.ts'
import { issueClient } from '../clientcertificates.ts'
import { compiled, endOf, type Oriel } from '../oriel.ts'
import { temporaryDirectory } from '../temporary.ts'
import { freePort, startServer } from './kcp.ts'

/** Views in one process, their shard in another. */
export interface Standalone extends Oriel {
  /** The output of `oriel virtual-workspaces` so far. */
  views(): string
  readonly shard: Oriel
  /** Of `oriel virtual-workspaces`. */
  readonly pid: number
  /** The directory of the serving certificate and its key; in front of kcp also of the authority of all certificates. */
  readonly files: string
}

/** A shard, Oriel's or that of KCP_BIN, with `oriel virtual-workspaces` in front of it, whose URLs are published. */
export async function startStandalone(
  more: readonly string[] = [],
  shardArgs: readonly string[] = [],
): Promise<Standalone> {
  const port = await freePort()
  const viewsUrl = `https://127.0.0.1:${port}`
  const published = `--shard-virtual-workspace-url=${viewsUrl}`
  if (!process.env.KCP_BIN) {
    const shard = await startServer([published, ...shardArgs])
    const files = shard.directory
    return { ...shard, ...(await startViews({ shard, port, more, files })), viewsUrl, shard, files }
  }
  const files = await issueFiles()
  const shard = await startServer([published, ...withoutViews(files), ...shardArgs])
  const clients = [...more, '--client-ca-file', join(files, 'ca.crt')]
  return { ...shard, ...(await startViews({ shard, port, more: clients, files })), viewsUrl, shard, files }
}

/** One authority for all: kcp's own controllers are clients of the views, and the other way round. */
async function issueFiles(): Promise<string> {
  const directory = await temporaryDirectory('certificates')
  const authority = issueAuthority()
  const serving = issueServing(authority, ['localhost', '127.0.0.1'])
  const client = await issueClient(authority, { subject: 'CN=shard, O=system:masters' })
  const files = {
    'ca.crt': authority.certificate,
    'ca.key': authority.key,
    'apiserver.crt': `${serving.certificate}${authority.certificate}`,
    'apiserver.key': serving.key,
    'client.crt': client.certificate,
    'client.key': client.key,
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content)
  return directory
}

/** Flags of kcp that make it use the views of another server. */
const withoutViews = (files: string): readonly string[] => [
  '--run-virtual-workspaces=false',
  `--tls-cert-file=${join(files, 'apiserver.crt')}`,
  `--tls-private-key-file=${join(files, 'apiserver.key')}`,
  `--client-ca-file=${join(files, 'ca.crt')}`,
  `--shard-virtual-workspace-ca-file=${join(files, 'ca.crt')}`,
  `--shard-client-cert-file=${join(files, 'client.crt')}`,
  `--shard-client-key-file=${join(files, 'client.key')}`,
]

/** Views in front of a shard that runs already, or is started later. */
export interface Views {
  readonly shard: Pick<Oriel, 'directory' | 'kubeconfig' | 'stop' | 'kill'>
  readonly port: number
  readonly more: readonly string[]
  /** The directory of the serving certificate. */
  readonly files: string
}

/** `oriel virtual-workspaces` alone. */
export interface ViewsProcess extends Pick<Standalone, 'views' | 'pid' | 'stop' | 'kill'> {
  /** Ends it without its shard. */
  end(): Promise<number | null>
}

export async function startViews({ shard, port, more, files }: Views): Promise<ViewsProcess> {
  const { kubeconfig } = shard
  const args = [
    ...[compiled, 'virtual-workspaces', '--kubeconfig', kubeconfig, '--context', 'shard-base'],
    ...['--bind-address', '127.0.0.1', '--secure-port', String(port)],
    ...['--tls-cert-file', join(files, 'apiserver.crt')],
    ...['--tls-private-key-file', join(files, 'apiserver.key'), ...more],
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const printed: string[] = []
  child.stderr.setEncoding('utf8').on('data', chunk => printed.push(chunk))
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve())
    child.once('exit', code => reject(new Error(`it ended with ${code}:\n${printed.join('')}`)))
  })
  return {
    views: () => printed.join(''),
    pid: child.pid ?? 0,
    end: () => endOf(child, 'SIGTERM'),
    stop: async () => {
      await endOf(child, 'SIGTERM')
      return shard.stop()
    },
    kill: async () => {
      await endOf(child, 'SIGKILL')
      await shard.kill()
    },
  }
}
