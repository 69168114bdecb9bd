import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { certificates } from '../test/support/crds.ts'
import { discard } from '../test/support/oriel.ts'
import { type Standalone, startStandalone } from '../test/support/standalone.ts'
import {
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../test/support/tenants.ts'
import { type Address, Connection, encodeRequest } from './connection.ts'
import { load } from './load.ts'
import { freePort, whenOpen } from './ports.ts'
import type { Benchmark, Row } from './result.ts'
import { type Scratch, withScratch } from './scratch.ts'
import { alternate } from './statistics.ts'
import { Watchers } from './watchers.ts'

const objects = 10_000
const watchers = 1_000
const changes = 50
const group = 'cert-manager.io'
const collection = `/apis/${group}/v1/certificates`
const inNamespace = `/apis/${group}/v1/namespaces/default/certificates`

/** Everybody who is measured, in front of one shard. */
interface Sides {
  readonly oriel: Side
  readonly kcp: Side
}
interface Side {
  readonly address: Address
  readonly pid: number
}

/** What is asked of them. */
interface Subject {
  readonly standalone: Standalone
  readonly sides: Sides
  readonly shard: Address
  readonly consumer: Tenant
  /** Of the view, below either side. */
  readonly view: string
}

const certificate = (name: string, sentAt = 0): string =>
  JSON.stringify({
    apiVersion: `${group}/v1`,
    kind: 'Certificate',
    metadata: { name, namespace: 'default', annotations: { padding: 'x'.repeat(700) } },
    spec: {
      secretName: name,
      dnsNames: [`${name}.example.com`, `${sentAt}.example.com`],
      issuerRef: { name: 'ca' },
    },
  })

async function fill({ shard, consumer }: Subject): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    const connection = await Connection.open(shard)
    while (next < objects) {
      const body = certificate(`n${next++}`)
      const path = `/clusters/${consumer.cluster}${inNamespace}`
      const { status } = await connection.read({ path, method: 'POST', body })
      if (status !== 201) throw new Error(`an object was refused with ${status}`)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: 16 }, work))
}

/** Objects per second of whole lists. */
async function listed(address: Address, path: string): Promise<number> {
  const { perSecond } = await load(address, {
    connections: 1,
    milliseconds: 5_000,
    request: () => encodeRequest({ path }),
  })
  return perSecond * objects
}

const quietAfter = 300

/** When the last event came: nothing has followed for a while, also not from a machine that is busy with other things. */
async function lastArrival(open: Watchers): Promise<number> {
  let last = performance.now()
  for (let still = 0; still < 8; ) {
    const before = open.bytes
    await open.quiet()
    still = open.bytes === before ? still + 1 : 0
    if (still === 0) last = performance.now() - quietAfter
  }
  return last
}

/** Events per second that arrive at all watchers together. */
async function fannedOut({ consumer, shard, view }: Subject, address: Address): Promise<number> {
  const open = await Watchers.open(
    address,
    `${view}/clusters/*${collection}?watch=1&resourceVersion=${await versionOf(shard, consumer)}`,
    watchers,
  )
  const before = open.bytes
  const connection = await Connection.open(shard)
  const begin = performance.now()
  for (let i = 0; i < changes; i++) {
    const path = `/clusters/${consumer.cluster}${inNamespace}/n${i}`
    const body = JSON.stringify({ metadata: { labels: { changed: String(begin + i) } } })
    await connection.read({ path, method: 'PATCH', body, contentType: 'application/merge-patch+json' })
  }
  const seconds = ((await lastArrival(open)) - begin) / 1000
  const each = (open.bytes - before) / watchers / changes
  if (each < 1_000) throw new Error(`only ${each} bytes of each event have arrived`)
  connection.close()
  open.close()
  return (changes * watchers) / seconds
}

async function versionOf(shard: Address, { cluster }: Tenant): Promise<string> {
  const connection = await Connection.open(shard)
  const { body } = await connection.read({ path: `/clusters/${cluster}${inNamespace}?limit=1` })
  connection.close()
  return (JSON.parse(body.toString()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion
}

async function perSecond(address: Address, path: string, method: 'GET' | 'PATCH'): Promise<number> {
  let count = 0
  const request = (): Buffer => {
    const name = `n${count++ % objects}`
    if (method === 'GET') return encodeRequest({ path: `${path}/${name}` })
    const body = JSON.stringify({ metadata: { labels: { count: String(count) } } })
    return encodeRequest({
      path: `${path}/${name}`,
      method,
      body,
      contentType: 'application/merge-patch+json',
    })
  }
  return (await load(address, { connections: 16, milliseconds: 3_000, request })).perSecond
}

async function megabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

type Measure = (side: Side) => Promise<number>

async function row(id: string, measure: string, unit: string, sides: Sides, take: Measure): Promise<Row> {
  const taken = await alternate(3, { kcp: () => take(sides.kcp), oriel: () => take(sides.oriel) })
  return {
    id: `standalone-${id}`,
    measure,
    unit,
    value: taken.oriel,
    against: { what: "kcp's process", value: taken.kcp },
  }
}

/** kcp's own process in front of the same shard, at a port of its own. */
async function startKcpViews(
  { kubeconfig, files }: Standalone,
  program: string,
): Promise<{ port: number; child: ChildProcess }> {
  const port = await freePort()
  const args = [
    `--kubeconfig=${kubeconfig}`,
    '--context=shard-base',
    `--authentication-kubeconfig=${kubeconfig}`,
    '--authentication-skip-lookup',
    `--client-ca-file=${join(files, 'ca.crt')}`,
    `--tls-cert-file=${join(files, 'apiserver.crt')}`,
    `--tls-private-key-file=${join(files, 'apiserver.key')}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
  ]
  const child = spawn(program, args, { stdio: 'ignore' })
  await whenOpen(port, 200)
  return { port, child }
}

async function prepare(standalone: Standalone, kcp: Side): Promise<Subject> {
  const [provider, consumer] = (await createWorkspaces(standalone, ['provider', 'consumer'])) as [
    Tenant,
    Tenant,
  ]
  const name = await exportApi(provider, certificates(), [])
  await bind(consumer, bindingOf(provider, name, []))
  const view = new URL(await publishedUrl(provider, name)).pathname
  const ca = await readFile(join(standalone.files, 'ca.crt'), 'utf8')
  const at = (url: string): Address => ({ port: Number(new URL(url).port), ca })
  const sides = { oriel: { address: at(standalone.viewsUrl), pid: standalone.pid }, kcp }
  return { standalone, sides, shard: at(standalone.url), consumer, view }
}

async function measured(subject: Subject, progress: (text: string) => void): Promise<readonly Row[]> {
  const { sides, view, consumer } = subject
  const all = `${view}/clusters/*${collection}`
  const one = `${view}/clusters/${consumer.cluster}${inNamespace}`
  const rows: Row[] = []
  const add = async (...[id, measure, unit, take]: [string, string, string, Measure]): Promise<void> => {
    progress(measure)
    rows.push(await row(id, measure, unit, sides, take))
  }
  await add('list', `LIST of ${objects} objects`, 'objects/s', ({ address }) => listed(address, all))
  await add('list-any', 'the same, any version will do', 'objects/s', ({ address }) =>
    listed(address, `${all}?resourceVersion=0`),
  )
  await add('get', 'GET in one logical cluster', 'requests/s', ({ address }) =>
    perSecond(address, one, 'GET'),
  )
  await add('update', 'merge patch in one logical cluster', 'requests/s', ({ address }) =>
    perSecond(address, one, 'PATCH'),
  )
  await add('fan-out', `${watchers} watchers`, 'events/s', ({ address }) => fannedOut(subject, address))
  await add('memory', 'memory after all that', 'MiB', ({ pid }) => megabytes(pid))
  return rows
}

async function withKcp(
  program: string,
  { directory }: Scratch,
  progress: (text: string) => void,
): Promise<readonly Row[]> {
  progress('kcp starts')
  const tokens = join(directory, 'tokens.csv')
  await writeFile(tokens, 'bench,bench,bench,"system:masters"\n')
  const standalone = await startStandalone([], [`--token-auth-file=${tokens}`])
  const { port, child } = await startKcpViews(standalone, program)
  try {
    const ca = await readFile(join(standalone.files, 'ca.crt'), 'utf8')
    const subject = await prepare(standalone, { address: { port, ca }, pid: child.pid ?? 0 })
    progress(`${objects} objects`)
    await fill(subject)
    return await measured(subject, progress)
  } finally {
    child.kill()
    await once(child, 'exit')
    await discard(standalone)
  }
}

/**
 * In front of one kcp shard, Oriel and kcp's own process side by side: with KCP_BIN, and KCP_VIEWS_BIN for kcp's
 * `virtual-workspaces`. Without them there is nothing to measure.
 */
export const standalone: Benchmark = ({ progress }) => {
  const program = process.env.KCP_VIEWS_BIN
  if (!process.env.KCP_BIN || !program) return Promise.resolve([])
  return withScratch(scratch => withKcp(program, scratch, progress))
}
