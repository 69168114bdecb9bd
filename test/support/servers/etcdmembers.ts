import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { endOf, eventually } from '../oriel.ts'
import { temporaryDirectory } from '../temporary.ts'
import { etcdProgram, freePorts, noEtcd, serving, withoutSync } from './etcd.ts'

/** A member of an etcd with several members. */
export interface EtcdMember {
  readonly port: number
  /** Sends SIGKILL, and starts again with the same data. */
  restart(): Promise<void>
  kill(): Promise<void>
  /** Sends SIGSTOP. */
  pause(): void
  /** Sends SIGCONT. */
  resume(): void
}

export interface EtcdMembers {
  readonly members: readonly EtcdMember[]
  /** The member that is the leader, when there is one. */
  leader(): Promise<EtcdMember>
  stop(): Promise<void>
}

/** The ports of a member. */
interface Place {
  readonly name: string
  readonly port: number
  readonly peer: string
  readonly metrics: string
}

interface Status {
  readonly header?: { readonly member_id?: string }
  readonly leader?: string
}

/** Starts an etcd with several members on loopback, and waits until it serves. */
export async function startEtcdMembers(count: number): Promise<EtcdMembers> {
  const program = etcdProgram()
  if (program === undefined) throw new Error(noEtcd)
  const directory = await temporaryDirectory('etcd-members')
  const places = await placesOf(count)
  const cluster = places.map(({ name, peer }) => `${name}=${peer}`).join()
  const members = await Promise.all(
    places.map(place =>
      startMember(place, program, [...flagsOf(place, directory, cluster), ...withoutSync(program)]),
    ),
  )
  return {
    members,
    leader: () =>
      eventually(
        () => leaderAmong(members),
        found => found !== undefined,
      ) as Promise<EtcdMember>,
    stop: async () => void (await Promise.all(members.map(member => member.kill()))),
  }
}

async function placesOf(count: number): Promise<readonly Place[]> {
  const ports = await freePorts(3 * count)
  const url = (i: number): string => `http://127.0.0.1:${ports[i]}`
  return Array.from({ length: count }, (_, i) => ({
    name: `m${i}`,
    port: ports[3 * i] ?? 0,
    peer: url(3 * i + 1),
    metrics: url(3 * i + 2),
  }))
}

/** Elections take a second at most, also on a busy machine. */
const timing = ['--heartbeat-interval', '100', '--election-timeout', '1000']

const flagsOf = ({ name, port, peer, metrics }: Place, directory: string, cluster: string) => [
  ...['--data-dir', join(directory, name), '--name', name, '--log-level', 'fatal', ...timing],
  ...['--listen-metrics-urls', metrics],
  ...['--listen-client-urls', `http://127.0.0.1:${port}`],
  ...['--advertise-client-urls', `http://127.0.0.1:${port}`],
  ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', cluster],
]

async function startMember(
  { port, metrics }: Place,
  program: string,
  flags: readonly string[],
): Promise<EtcdMember> {
  const launch = (): Promise<ChildProcess> =>
    serving(spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe'] }), metrics)
  let child = await launch()
  const kill = async (): Promise<void> => void (await endOf(child, 'SIGKILL'))
  return {
    port,
    kill,
    async restart() {
      await kill()
      child = await launch()
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  }
}

async function leaderAmong(members: readonly EtcdMember[]): Promise<EtcdMember | undefined> {
  const states = await Promise.all(members.map(async member => ({ member, ...(await statusOf(member)) })))
  return states.find(
    ({ header, leader }) => leader !== undefined && leader !== '0' && header?.member_id === leader,
  )?.member
}

async function statusOf({ port }: EtcdMember): Promise<Status> {
  const url = `http://127.0.0.1:${port}/v3/maintenance/status`
  const options = { method: 'POST', body: '{}', signal: AbortSignal.timeout(2_000) }
  return fetch(url, options).then(
    async response => (await response.json()) as Status,
    () => ({}),
  )
}
