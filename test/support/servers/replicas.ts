import { type Client, clientOf } from '../client.ts'
import { discard, type Oriel, type OrielOptions, startOriel } from '../oriel.ts'
import { configAt } from '../watcher.ts'
import { type Etcd, startEtcd } from './etcd.ts'
import { type EtcdMembers, startEtcdMembers } from './etcdmembers.ts'
import { type Gate, openGate } from './gate.ts'

/** Servers over one etcd. */
export interface Replicas {
  readonly etcd: Etcd
  readonly servers: readonly Oriel[]
  /** The administrator at each server, in the same order. */
  readonly clients: readonly Client[]
  close(): Promise<void>
}

/** Starts etcd, and all servers at the same time: they agree on keys and first objects. */
export async function startReplicas(count: number): Promise<Replicas> {
  return overEtcd(Array.from({ length: count }, () => ({})))
}

/** Starts etcd, and a server for each of the options, all at the same time. */
async function overEtcd(options: readonly OrielOptions[]): Promise<Replicas> {
  const etcd = await startEtcd()
  const store = ['--store', `etcd://${etcd.endpoint}`]
  const started = await startServers(
    options.map(({ args = [], ...more }) => ({ ...more, args: [...store, ...args] })),
  )
  return {
    ...started,
    etcd,
    async close() {
      await started.close()
      await etcd.stop()
    },
  }
}

/** A server whose clock differs from that of the machine, until SIGUSR2 sets it right. */
export interface Clock {
  /** Milliseconds. */
  readonly offset: number
}

/** Starts etcd, and a server for each clock. `args`: of each server. */
export const startSkewedReplicas = (clocks: readonly Clock[], args: readonly string[]): Promise<Replicas> =>
  overEtcd(
    clocks.map(({ offset }) => ({ args, env: { NODE_OPTIONS: `--import=${moduleOf(skewed(offset))}` } })),
  )

const moduleOf = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`

/** The clock of JavaScript only: OpenSSL and timers have that of the machine. */
const skewed = (offset: number): string => `
  const real = Date
  let offset = ${offset}
  const now = () => real.now() + offset
  globalThis.Date = new Proxy(real, {
    construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
  process.on('SIGUSR2', () => { offset = 0 })
`

interface Servers extends Pick<Replicas, 'servers' | 'clients' | 'close'> {}

/** One server for each of the options, all at the same time. */
async function startServers(options: readonly OrielOptions[]): Promise<Servers> {
  const servers = await Promise.all(
    options.map(({ args = [], ...more }) => startOriel({ ...more, args: [...args, '--log-level', 'info'] })),
  )
  const clients = await Promise.all(servers.map(server => clientOf(configAt(server, server.url))))
  return {
    servers,
    clients,
    async close() {
      for (const client of clients) client.close()
      for (const server of servers) server.resume()
      await Promise.all(servers.map(discard))
    },
  }
}

/** The connections of one server to all members of etcd. */
export interface Line {
  /** No bytes pass in either direction. */
  sever(): void
  /** Bytes pass again, also those of before. */
  heal(): void
}

/** Servers over an etcd with several members; each server can be cut off. */
export interface CutReplicas extends Servers {
  readonly etcd: EtcdMembers
  /** In the order of the servers. */
  readonly lines: readonly Line[]
}

/** Starts an etcd with `members` members, and `count` servers that reach it through proxies. */
export async function startCutReplicas(count: number, members: number): Promise<CutReplicas> {
  const etcd = await startEtcdMembers(members)
  const gates = await Promise.all(
    Array.from({ length: count }, () => Promise.all(etcd.members.map(({ port }) => openGate(port)))),
  )
  const stores = gates.map(each => `etcd://${each.map(({ port }) => `127.0.0.1:${port}`).join()}`)
  const started = await startServers(stores.map(store => ({ args: ['--store', store] })))
  return {
    ...started,
    etcd,
    lines: gates.map(lineThrough),
    async close() {
      for (const gate of gates.flat()) gate.heal()
      await started.close()
      await Promise.all(gates.flat().map(gate => gate.close()))
      await etcd.stop()
    },
  }
}

const lineThrough = (gates: readonly Gate[]): Line => ({
  sever: () => {
    for (const gate of gates) gate.sever()
  },
  heal: () => {
    for (const gate of gates) gate.heal()
  },
})

/** The holder of the controllers' Lease; '' without one. */
export async function leaderOf(server: Oriel): Promise<string> {
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/oriel-controllers'
  const client = await clientOf(configAt(server, `${server.url}/clusters/system:admin`, 'system:admin'))
  const answer = (await client(lease)).json<{ readonly spec?: { readonly holderIdentity?: string } }>()
  client.close()
  return answer.spec?.holderIdentity ?? ''
}
