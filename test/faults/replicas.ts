import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Client, Frame } from '../support/client.ts'
import { eventually } from '../support/oriel.ts'
import { type Replicas, startReplicas } from '../support/servers/replicas.ts'

const path = '/clusters/root/api/v1/namespaces/default/configmaps'
const writers = 4

/** What the clients of all servers have been told. */
interface History {
  /** The acknowledged writes: `<name>=<number>` by resourceVersion. */
  readonly acknowledged: Map<string, string>
  /** The newest acknowledged number of each object. */
  readonly newest: Map<string, number>
  /** The events of one watch that moves between servers, in the same form. */
  readonly watched: Map<string, string>
  /** The order of their resourceVersions. */
  readonly order: number[]
}

interface Run {
  readonly replicas: Replicas
  readonly history: History
  readonly stop: AbortController
}

const nameOf = (writer: number): string => `checked-${writer}`
const anyOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T
const numberIn = (object: object): number => Number((object as { data?: { n?: string } }).data?.n ?? 0)

/** undefined: the server was killed, or etcd did not answer in time. */
async function attempt<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch {
    await sleep(20)
    return undefined
  }
}

/** Writes increasing numbers through any server, and reads each through another one. */
async function write({ replicas, history, stop }: Run, writer: number): Promise<void> {
  const name = nameOf(writer)
  const headers = { 'content-type': 'application/merge-patch+json' }
  for (let n = 1; !stop.signal.aborted; n++) {
    const sent = { method: 'PATCH', headers, body: { data: { n: String(n) } } }
    const reply = await attempt(() => anyOf(replicas.clients)(`${path}/${name}`, sent))
    if (reply?.status === 200) {
      const { resourceVersion = '' } = reply.json().metadata
      history.acknowledged.set(resourceVersion, `${name}=${n}`)
      history.newest.set(name, n)
    } else assert.ok(reply === undefined || reply.status >= 500, reply?.text)
    await readBack(replicas, history, name)
  }
}

/** A read after an acknowledged write has it, at every server. */
async function readBack({ clients }: Replicas, history: History, name: string): Promise<void> {
  const least = history.newest.get(name) ?? 0
  const reply = await attempt(() => anyOf(clients)(`${path}/${name}`))
  if (reply?.status !== 200) return
  const found = numberIn(reply.json())
  assert.ok(found >= least, `${name} has ${found} after ${least} was acknowledged`)
}

/** Watches from `version` on, at another server whenever a stream ends. */
async function watch({ replicas, history, stop }: Run, version: string): Promise<void> {
  let last = version
  for (let turn = 0; !stop.signal.aborted; turn++) {
    const client = replicas.clients[turn % replicas.clients.length] as Client
    const query = `?watch=1&resourceVersion=${last}&timeoutSeconds=${1 + (turn % 3)}`
    const stream = await attempt(() => client.watch(path + query))
    if (stream === undefined) continue
    if (stream.status !== 200) {
      assert.ok(stream.status >= 500, `the watch after ${last} got ${stream.status}`)
      await sleep(20)
      continue
    }
    for (let frame = await attempt(() => stream.next()); frame; frame = await attempt(() => stream.next()))
      last = note(history, frame)
  }
}

function note(history: History, { type, object }: Frame): string {
  assert.notEqual(type, 'ERROR', JSON.stringify(object))
  const { name = '', resourceVersion = '' } = object.metadata
  history.watched.set(resourceVersion, `${name}=${numberIn(object)}`)
  history.order.push(Number(resourceVersion))
  return resourceVersion
}

/** Kills etcd and the servers in turns, `kills` times, and waits until each serves again. */
async function disturb({ replicas }: Run, kills: number): Promise<void> {
  const { etcd, servers } = replicas
  for (let i = 0; i < kills; i++) {
    if (i % 5 < 4) await etcd.restart()
    else await (servers[Math.floor(i / 5) % servers.length] as (typeof servers)[number]).restart()
    await sleep(Math.random() * 100)
  }
}

/** Every acknowledged write was watched at its resourceVersion; no event came twice, or out of order. */
function checkHistory({ acknowledged, watched, order }: History): void {
  const lost = [...acknowledged].filter(([version, what]) => watched.get(version) !== what)
  assert.deepEqual(lost, [], 'acknowledged writes without their event')
  const wrong = order.filter((version, i) => i > 0 && version <= (order[i - 1] ?? 0))
  assert.deepEqual(wrong, [], 'events that came twice or out of order')
}

async function checkFinal({ clients }: Replicas, { newest }: History): Promise<void> {
  for (const client of clients) {
    for (const [name, least] of newest) {
      const found = numberIn((await client(`${path}/${name}`)).json())
      assert.ok(found >= least, `${name} has ${found} at the end, acknowledged was ${least}`)
    }
  }
}

/**
 * Kills servers over one etcd, and etcd itself, while clients write, read and watch. Throws when an acknowledged write is lost,
 * a read goes back, or a watch loses or repeats an event. Returns the number of acknowledged writes.
 */
export async function disturbReplicas(kills: number): Promise<number> {
  const replicas = await startReplicas(2)
  const [client] = replicas.clients as readonly [Client, ...Client[]]
  const history: History = { acknowledged: new Map(), newest: new Map(), watched: new Map(), order: [] }
  const run: Run = { replicas, history, stop: new AbortController() }
  try {
    const namespace = () => client('/clusters/root/api/v1/namespaces/default')
    await eventually(namespace, ({ status }) => status === 200)
    const { resourceVersion = '' } = (await client(path)).json().metadata
    const numbers = Array.from({ length: writers }, (_, i) => i)
    for (const writer of numbers) {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: nameOf(writer) } }
      assert.equal((await client(path, { method: 'POST', body })).status, 201)
    }
    const watching = new AbortController()
    const watched = watch({ ...run, stop: watching }, resourceVersion)
    const written = Promise.all(numbers.map(writer => write(run, writer)))
    await Promise.race([disturb(run, kills), written, watched])
    run.stop.abort()
    await written
    const last = Math.max(...[...history.acknowledged.keys()].map(Number))
    await Promise.race([
      watched,
      eventually(
        async () => history.order.at(-1) ?? 0,
        seen => seen >= last,
      ),
    ])
    watching.abort()
    await watched
    checkHistory(history)
    await checkFinal(replicas, history)
    return history.acknowledged.size
  } finally {
    run.stop.abort()
    await replicas.close()
  }
}

// `node --import tsx test/faults/replicas.ts 200`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const kills = Number(process.argv[2] ?? 200)
  const acknowledged = await disturbReplicas(kills)
  process.stdout.write(
    `${kills} kills, ${acknowledged} acknowledged writes: none lost, no read went back, no event lost or repeated\n`,
  )
}
