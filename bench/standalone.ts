import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { certificates } from '../test/support/crds.ts'
import { discard } from '../test/support/oriel.ts'
import { type Standalone, startStandalone } from '../test/support/servers/standalone.ts'
import {
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../test/support/tenants.ts'
import { idleRow, memoryRows } from './standalonememory.ts'
import { type Address, Connection } from './tools/connection.ts'
import { freePort, whenOpen } from './tools/ports.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { type Scratch, withScratch } from './tools/scratch.ts'
import { type Measure, rowsOf, type Side } from './tools/sides.ts'
import { alternate } from './tools/statistics.ts'
import {
  asked,
  collection,
  fannedOut,
  group,
  inNamespace,
  listed,
  listers,
  objects,
  type Subject,
  watchers,
} from './viewloads.ts'

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

const against = "kcp's process"

/** The upper limit for consistent lists: each one needs a request to the shard. */
async function boundRow({ sides, shard, view, consumer }: Subject): Promise<Row> {
  const taken = await alternate(3, {
    shard: async () => (await listed(shard, `/clusters/${consumer.cluster}${collection}`)).perSecond,
    oriel: async () => (await listed(sides.oriel.address, `${view}/clusters/*${collection}`)).perSecond,
  })
  return {
    id: 'standalone-list-bound',
    measure: `LIST of ${objects} objects, the newest version, of what the shard itself sends`,
    unit: 'objects/s',
    value: taken.oriel,
    against: { what: 'the shard itself', value: taken.shard },
  }
}

/** kcp's own process in front of the same shard, at another port. */
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

function measuresOf(subject: Subject): readonly Measure[] {
  const { view, consumer } = subject
  const all = `${view}/clusters/*${collection}`
  const one = `${view}/clusters/${consumer.cluster}${inNamespace}`
  const list = `LIST of ${objects} objects`
  return [
    {
      id: 'list-any',
      measure: `${list}, any version`,
      unit: 'objects',
      target: { atLeast: 10 },
      take: ({ address }) => listed(address, `${all}?resourceVersion=0`),
    },
    {
      id: 'list',
      measure: `${list}, the newest version`,
      unit: 'objects',
      target: { atLeast: 10 },
      take: ({ address }) => listed(address, all),
    },
    {
      id: 'list-herd',
      measure: `${list}, the newest version, ${listers} clients at once`,
      unit: 'objects',
      target: { atLeast: 10 },
      take: ({ address }) => listed(address, all, listers),
    },
    {
      id: 'get',
      measure: 'GET in one logical cluster',
      unit: 'requests',
      take: ({ address }) => asked(address, one, 'GET'),
    },
    {
      id: 'update',
      measure: 'merge patch in one logical cluster',
      unit: 'requests',
      take: ({ address }) => asked(address, one, 'PATCH'),
    },
    {
      id: 'fan-out',
      measure: `${watchers} watchers`,
      unit: 'events',
      target: { atLeast: 5 },
      take: ({ address }) => fannedOut(subject, address),
    },
  ]
}

async function measured(subject: Subject, progress: (text: string) => void): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const each of measuresOf(subject)) {
    progress(each.measure)
    rows.push(...(await rowsOf({ ...each, id: `standalone-${each.id}` }, subject.sides, against)))
  }
  progress('the shard itself')
  rows.push(await boundRow(subject))
  progress('memory')
  return [...rows, ...(await memoryRows(subject))]
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
    const idle = await idleRow(subject.sides)
    progress(`${objects} objects`)
    await fill(subject)
    return [...(await measured(subject, progress)), idle]
  } finally {
    child.kill()
    await once(child, 'exit')
    await discard(standalone)
  }
}

/**
 * Oriel and kcp's own process side by side in front of one kcp shard: with KCP_BIN, and KCP_VIEWS_BIN for kcp's
 * `virtual-workspaces`. Without them there are no rows.
 */
export const standalone: Benchmark = ({ progress }) => {
  const program = process.env.KCP_VIEWS_BIN
  if (!process.env.KCP_BIN || !program) return Promise.resolve([])
  return withScratch(scratch => withKcp(program, scratch, progress))
}
