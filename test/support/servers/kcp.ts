import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { endOf, eventually, type Oriel, run, startOriel } from '../oriel.ts'
import { temporaryDirectory } from '../temporary.ts'

/** The server under test: Oriel, or kcp if KCP_BIN names its binary. */
export const startServer = (more: readonly string[] = []): Promise<Oriel> =>
  process.env.KCP_BIN ? startKcp(process.env.KCP_BIN, more) : startOriel({ args: more })

async function startKcp(binary: string, more: readonly string[]): Promise<Oriel> {
  const directory = await temporaryDirectory('kcp')
  const [port, client, peer] = await Promise.all([freePort(), freePort(), freePort()])
  const kubeconfig = join(directory, 'admin.kubeconfig')
  const args = [
    'start',
    `--root-directory=${directory}`,
    '--bind-address=127.0.0.1',
    '--external-hostname=127.0.0.1',
    `--secure-port=${port}`,
    `--embedded-etcd-client-port=${client}`,
    `--embedded-etcd-peer-port=${peer}`,
    ...more,
  ]
  const ready = () => run('kubectl', ['--kubeconfig', kubeconfig, 'get', '--raw', '/readyz'])
  const launch = async (): Promise<ChildProcess> => {
    const launched = spawn(binary, args, { stdio: 'ignore' })
    await eventually(ready, outcome => outcome.code === 0, 120_000)
    return launched
  }
  let child = await launch()
  return {
    directory,
    kubeconfig,
    url: `https://127.0.0.1:${port}`,
    viewsUrl: `https://127.0.0.1:${port}`,
    output: () => '',
    stop: () => endOf(child, 'SIGTERM'),
    kill: async () => void (await endOf(child, 'SIGKILL')),
    signal: signal => void child.kill(signal),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async restart() {
      await endOf(child, 'SIGKILL')
      child = await launch()
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
