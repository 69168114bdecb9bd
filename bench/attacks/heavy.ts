import { setTimeout as sleep } from 'node:timers/promises'
import { workspace } from '../outside/measures.ts'
import { thisCheckout, withOriel } from '../outside/server.ts'
import {
  attackerToken,
  Connection,
  creatorToken,
  encodeRequest,
  type Request,
  victimToken,
} from '../tools/connection.ts'
import { load } from '../tools/load.ts'
import { residentMemory } from '../tools/process.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import type { Side } from '../tools/sides.ts'
import { percentile } from '../tools/statistics.ts'
import { dryRuns } from './dryruns.ts'
import { type Heavy, heavyRequests } from './requests.ts'

const milliseconds = Number(process.env.ATTACK_MILLISECONDS ?? 4_000)
const quiet = 2_000
const home = '/clusters/root:victim'
const collection = `${home}/api/v1/namespaces/default/configmaps`
const workspaces = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces'

const configMap = (name: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text: 'x'.repeat(860) } })

async function once({ address }: Side, request: Request): Promise<{ status: number; text: string }> {
  const connection = await Connection.open(address)
  const { status, body } = await connection.read(request)
  connection.close()
  return { status, text: body.toString() }
}

/** Repeats a request until its response has the text. */
async function until(side: Side, request: Request, text: string): Promise<void> {
  while (!(await once(side, request)).text.includes(text)) await sleep(20)
}

async function created(side: Side, request: Request): Promise<void> {
  for (;;) {
    const { status, text } = await once(side, request)
    if (status === 201) return
    // The resource of a new definition is served a moment later.
    if (status !== 404) throw new Error(`${request.path} was ${status}: ${text.slice(0, 300)}`)
    await sleep(20)
  }
}

/** A workspace of a user, and nothing else that this user may do. */
async function settle(side: Side, name: string): Promise<void> {
  const path = `/clusters/root:${name}`
  await created(side, { method: 'POST', path: workspaces, body: workspace(name), token: creatorToken })
  await until(side, { path: `${workspaces}/${name}` }, '"phase":"Ready"')
  await until(side, { path: `${path}/api/v1/namespaces` }, '"name":"default"')
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }]
  const binding = { kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects }
  await created(side, {
    method: 'POST',
    path: `${path}/apis/rbac.authorization.k8s.io/v1/clusterrolebindings`,
    body: JSON.stringify({ apiVersion: 'rbac.authorization.k8s.io/v1', ...binding }),
  })
}

/** What the victim waits, in milliseconds. */
interface Waits {
  readonly read: number
  readonly write: number
}

let made = 0

/** Reads and writes at the same time. Throws when one is refused. */
async function waits({ address }: Side, duration: number): Promise<Waits> {
  const options = { connections: 2, milliseconds: duration, rest: 2 }
  const read = encodeRequest({ path: `${collection}/first`, token: victimToken })
  const write = (): Buffer =>
    encodeRequest({ method: 'POST', path: collection, body: configMap(`v-${made++}`), token: victimToken })
  const [reads, writes] = await Promise.all([
    load(address, { ...options, request: () => read }),
    load(address, { ...options, request: write, status: 201 }),
  ])
  return { read: reads.p99, write: writes.p99 }
}

/** How often requests held the event loop for more than each number of seconds. */
async function holds(side: Side): Promise<ReadonlyMap<number, number>> {
  const { text } = await once(side, { path: '/metrics' })
  const buckets = new Map<number, number>()
  const all = /^oriel_request_event_loop_hold_seconds_bucket\{.*le="([^"]+)".*\} (\d+)$/gm
  for (const [, bound, count] of text.matchAll(all)) {
    const seconds = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound)
    buckets.set(seconds, (buckets.get(seconds) ?? 0) + Number(count))
  }
  return buckets
}

/** Seconds that no new hold was longer than: 0.02 where there was none. */
function longest(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  const added = (bound: number): number => (after.get(bound) ?? 0) - (before.get(bound) ?? 0)
  const all = added(Number.POSITIVE_INFINITY)
  if (all === 0) return 0.02
  return [...after.keys()].sort((a, b) => a - b).find(bound => added(bound) === all) ?? Number.NaN
}

interface Suffered extends Waits {
  readonly hold: number
}

async function attack(side: Side, { request, connections }: Heavy, flooding: Flooding): Promise<Suffered> {
  const before = await holds(side)
  const done = flooding.begin({ request: { ...request, token: attackerToken }, connections })
  const waited = await waits(side, milliseconds)
  await flooding.end()
  await done
  return { ...waited, hold: longest(before, await holds(side)) }
}

interface Flooding {
  begin(flood: { readonly request: Request; readonly connections: number }): Promise<void>
  end(): Promise<void>
}

function rowsOf({ id, what }: Heavy, idle: Waits, { read, write, hold }: Suffered): readonly Row[] {
  const row = (kind: string, measure: string, value: number, against: number): Row => ({
    id: `attack-${id}-${kind}`,
    measure: `${measure} while another user ${what}`,
    value,
    unit: 'ms',
    against: { what: 'idle', value: against },
    target: { atMost: 10 },
  })
  return [
    row('read', 'p99 of a GET', read, idle.read),
    row('write', 'p99 of a CREATE', write, idle.write),
    {
      id: `attack-${id}-hold`,
      measure: 'the longest hold of the event loop, at most',
      unit: 's',
      value: hold,
      target: { atMost: 0.05 },
    },
  ]
}

/** Memory that is not given back within a minute, against before the attacks. */
async function memoryRow(side: Side, before: number, progress: (text: string) => void): Promise<Row> {
  const configMaps = `/clusters/root:attacker/api/v1/namespaces/default/configmaps`
  await once(side, { method: 'DELETE', path: configMaps, token: attackerToken })
  progress('a minute of rest')
  await sleep(60_000)
  const { own: value } = await residentMemory(side.pid)
  return {
    id: 'attack-memory',
    measure: 'memory a minute after all of it',
    value,
    unit: 'MiB',
    against: { what: 'before', value: before },
  }
}

/**
 * What one user waits while another one sends requests that ask for much work, to a whole server over TLS with its default
 * limits. `ATTACKS=yaml,rules` selects some. A refused request of the first user ends the benchmark with an error.
 */
export const heavy: Benchmark = ({ progress }) =>
  withScratch(scratch =>
    withOriel(thisCheckout, scratch.directory, async side => {
      progress('workspaces')
      for (const name of ['attacker', 'victim']) await settle(side, name)
      await created(side, { method: 'POST', path: collection, body: configMap('first') })
      const puller = await scratch.puller(side.address)
      const flooding: Flooding = { begin: flood => puller.ask('flood', flood), end: () => puller.ask('calm') }
      const only = process.env.ATTACKS?.split(',')
      await waits(side, quiet)
      const { own } = await residentMemory(side.pid)
      const rows: Row[] = []
      for (const each of [...heavyRequests, ...dryRuns].filter(({ id }) => only?.includes(id) ?? true)) {
        progress(`${each.id}: preparation`)
        for (const request of each.before ?? []) await created(side, { ...request, token: attackerToken })
        const idle = [await waits(side, quiet), await waits(side, quiet)]
        progress(`${each.id}: attack`)
        const suffered = await attack(side, each, flooding)
        const of = (kind: keyof Waits): number =>
          percentile(
            idle.map(waited => waited[kind]),
            0.5,
          )
        rows.push(...rowsOf(each, { read: of('read'), write: of('write') }, suffered))
      }
      return [...rows, await memoryRow(side, own, progress)]
    }),
  )
