import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endOf } from '../oriel.ts'
import { root } from '../source.ts'
import { temporaryDirectory } from '../temporary.ts'

/** A running etcd with one member. */
export interface Etcd {
  /** `127.0.0.1:<port>` */
  readonly endpoint: string
  /** `http://127.0.0.1:<port>`, or https. */
  readonly url: string
  /** Runs etcdctl's API through the JSON gateway: `kv/range`, `maintenance/alarm`. */
  post(path: string, body: object): Promise<Record<string, unknown>>
  /** Sends SIGSTOP, and waits until all threads have stopped. */
  pause(): Promise<void>
  /** Sends SIGCONT. */
  resume(): void
  /** Sends SIGKILL, and starts again with the same data. */
  restart(): Promise<void>
  /** Sends SIGKILL, and starts again without data. */
  wipe(): Promise<void>
  /** Notes the state to which `goBack` restores it. */
  save(): Promise<void>
  /** Sends SIGKILL, and starts again with the saved state, as after a restore of a snapshot with the same cluster token. */
  goBack(): Promise<void>
  stop(): Promise<void>
}

export const noEtcd =
  'no etcd: install Debian’s etcd-server, run scripts/install-etcd.sh, or set ETCD_BIN to a program'

/** The program, from `ETCD_BIN`, of `scripts/install-etcd.sh`, or in PATH; undefined without one. */
export function etcdProgram(): string | undefined {
  const { ETCD_BIN, PATH = '' } = process.env
  const places = PATH.split(':').map(folder => join(folder, 'etcd'))
  return [...(ETCD_BIN ? [ETCD_BIN] : []), join(root, '.tools/etcd'), ...places].find(each =>
    existsSync(each),
  )
}

/** Ports that no program uses now. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map(server => new Promise(resolve => server.once('listening', resolve))))
  const ports = servers.map(server => (server.address() as { readonly port: number }).port)
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  return ports
}

/** Since 3.5; Debian's 3.4 does not have the flag. */
export const withoutSync = (program: string): readonly string[] =>
  execFileSync(program, ['--help'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).includes(
    'unsafe-no-fsync',
  )
    ? ['--unsafe-no-fsync']
    : []

/** Starts etcd on free ports, and waits until it serves. `args`: further flags; `scheme`: of clients. */
export async function startEtcd(args: readonly string[] = [], scheme = 'http'): Promise<Etcd> {
  const program = etcdProgram()
  if (program === undefined) throw new Error(noEtcd)
  const directory = join(await temporaryDirectory('etcd'), 'data')
  const [port = 0, peerPort = 0, metricsPort = 0] = await freePorts(3)
  const url = `${scheme}://127.0.0.1:${port}`
  const peer = `http://127.0.0.1:${peerPort}`
  const metrics = `http://127.0.0.1:${metricsPort}`
  const flags = [
    ...['--data-dir', directory, '--name', 'one', '--log-level', 'error', '--listen-metrics-urls', metrics],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...[
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `one=${peer}`,
    ],
    ...withoutSync(program),
    ...args,
  ]
  const launch = () => serving(spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe'] }), metrics)
  let child = await launch()
  return {
    endpoint: `127.0.0.1:${port}`,
    url,
    async post(path, body) {
      const response = await fetch(`${url}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) })
      return (await response.json()) as Record<string, unknown>
    },
    async pause() {
      child.kill('SIGSTOP')
      while (!hasStopped(child.pid ?? 0)) await sleep(5)
    },
    resume: () => void child.kill('SIGCONT'),
    async restart() {
      await endOf(child, 'SIGKILL')
      child = await launch()
    },
    async wipe() {
      await endOf(child, 'SIGKILL')
      await rm(directory, { recursive: true })
      child = await launch()
    },
    async save() {
      await endOf(child, 'SIGKILL')
      await cp(directory, `${directory}.saved`, { recursive: true })
      child = await launch()
    },
    async goBack() {
      await endOf(child, 'SIGKILL')
      await rm(directory, { recursive: true })
      await cp(`${directory}.saved`, directory, { recursive: true })
      child = await launch()
    },
    stop: async () => void (await endOf(child, 'SIGKILL')),
  }
}

/** True on systems without `/proc`. */
function hasStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`
  if (!existsSync(tasks)) return true
  return readdirSync(tasks).every(task => / T /.test(readFileSync(join(tasks, task, 'stat'), 'utf8')))
}

/** Resolves when etcd has a leader; rejects when it ends. */
export async function serving(child: ChildProcess, metrics: string): Promise<ChildProcess> {
  let output = ''
  child.stderr?.setEncoding('utf8').on('data', chunk => {
    output += chunk
  })
  for (;;) {
    if (child.exitCode !== null) throw new Error(`etcd ended with ${child.exitCode}:\n${output}`)
    const response = await fetch(`${metrics}/health`).catch(() => undefined)
    if (response?.ok) return child
    await sleep(20)
  }
}
