import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueAuthority } from '../../cmd/certificates.ts'
import { issueClient } from './clientcertificates.ts'
import { freePort, startServer } from './kcp.ts'
import { compiled, type Oriel } from './oriel.ts'

/** Views in one process, their shard in another. */
export interface Standalone extends Oriel {
  /** What `oriel virtual-workspaces` has printed so far. */
  views(): string
  readonly shard: Oriel
}

/** A shard, Oriel's or the one of KCP_BIN, with `oriel virtual-workspaces` in front of it, which has everything published. */
export async function startStandalone(more: readonly string[] = []): Promise<Standalone> {
  const port = await freePort()
  const viewsUrl = `https://127.0.0.1:${port}`
  const outside = process.env.KCP_BIN ? await withoutViews() : []
  const shard = await startServer([`--shard-virtual-workspace-url=${viewsUrl}`, ...outside])
  return { ...shard, ...(await startViews({ shard, port, more })), viewsUrl, shard }
}

/** kcp serves its own views unless it is told who else does, and how to be known there. */
async function withoutViews(): Promise<readonly string[]> {
  const authority = await issueAuthority()
  const client = await issueClient(authority, { subject: 'CN=shard' })
  const file = async (name: string, content: string): Promise<string> => {
    const path = join(process.env.TMPDIR ?? '/tmp', `oriel-${process.pid}-${name}`)
    await writeFile(path, content)
    return path
  }
  return [
    '--run-virtual-workspaces=false',
    `--shard-virtual-workspace-ca-file=${await file('ca.crt', authority.certificate)}`,
    `--shard-client-cert-file=${await file('client.crt', client.certificate)}`,
    `--shard-client-key-file=${await file('client.key', client.key)}`,
  ]
}

interface Views {
  readonly shard: Pick<Oriel, 'directory' | 'kubeconfig' | 'stop' | 'kill'>
  readonly port: number
  readonly more: readonly string[]
}

async function startViews({
  shard,
  port,
  more,
}: Views): Promise<Pick<Standalone, 'views' | 'stop' | 'kill'>> {
  const { directory, kubeconfig } = shard
  const args = [
    ...[compiled, 'virtual-workspaces', '--kubeconfig', kubeconfig, '--context', 'shard-base'],
    ...['--bind-address', '127.0.0.1', '--secure-port', String(port)],
    ...['--tls-cert-file', join(directory, 'apiserver.crt')],
    ...['--tls-private-key-file', join(directory, 'apiserver.key'), ...more],
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const printed: string[] = []
  child.stderr.setEncoding('utf8').on('data', chunk => printed.push(chunk))
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve())
    child.once('exit', code => reject(new Error(`it ended with ${code}:\n${printed.join('')}`)))
  })
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    await once(child, 'exit')
  }
  return {
    views: () => printed.join(''),
    stop: async () => {
      await end('SIGTERM')
      return shard.stop()
    },
    kill: async () => {
      await end('SIGKILL')
      await shard.kill()
    },
  }
}
