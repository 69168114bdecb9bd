import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type CutReplicas, startCutReplicas } from '../support/servers/replicas.ts'
import type { History, Operation } from './history.ts'
import { observe } from './observed.ts'

const servers = 3
const members = 3

/** Something goes wrong for at most `longest` milliseconds, and ends. */
type Fault = (replicas: CutReplicas, longest: number) => Promise<void>

const anyOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T
const atMost = (longest: number): Promise<void> => sleep(Math.random() * longest)

const killLeader: Fault = async ({ etcd }) => (await etcd.leader()).restart()

const killServer: Fault = ({ servers }) => anyOf(servers).restart()

/** After a pause a server answers what it was asked before, with a cache of before. */
const pauseServer: Fault = async ({ servers }, longest) => {
  const server = anyOf(servers)
  server.pause()
  await atMost(longest)
  server.resume()
}

const pauseLeader: Fault = async ({ etcd }, longest) => {
  const leader = await etcd.leader()
  leader.pause()
  await atMost(longest)
  leader.resume()
}

const cutOff: Fault = async ({ lines }, longest) => {
  const line = anyOf(lines)
  line.sever()
  await atMost(longest)
  line.heal()
}

/** Etcd's leader is killed more often than a server, which takes longer to start. */
const kills: readonly Fault[] = [killLeader, killLeader, killServer, killLeader, killLeader]
const others: readonly Fault[] = [pauseServer, cutOff, pauseLeader]

export interface Disturbance {
  readonly kills: number
  /** After how many kills a server is paused or cut off, or etcd's leader is paused. */
  readonly every: number
  /** Milliseconds of such a fault at most. */
  readonly longest: number
}

async function disturb(replicas: CutReplicas, { kills: count, every, longest }: Disturbance): Promise<void> {
  for (let i = 0; i < count; i++) {
    await (kills[i % kills.length] as Fault)(replicas, longest)
    if (i % every === every - 1)
      await (others[Math.floor(i / every) % others.length] as Fault)(replicas, longest)
    await atMost(100)
  }
}

/**
 * Kills, pauses and cuts off servers and members of their etcd, while clients write, read and watch. Throws when an acknowledged
 * write is lost, a read goes back, or a watch loses or repeats an event.
 */
export async function disturbReplicas(disturbance: Disturbance): Promise<History> {
  const replicas = await startCutReplicas(servers, members)
  try {
    return await observe(replicas.clients, () => disturb(replicas, disturbance))
  } finally {
    await replicas.close()
  }
}

/** Kills of one installation; a longer run has several, so that each of its histories is checked soon. */
const perRound = 50

/** Keys of different rounds are different. */
const ofRound = (round: number, { operations }: History): readonly Operation[] =>
  operations.map(operation => ({ ...operation, key: `${round}/${operation.key}` }))

async function disturbInRounds(kills: number, file: string | undefined): Promise<void> {
  const operations: Operation[] = []
  for (let done = 0; done < kills; ) {
    const count = Math.min(perRound, kills - done)
    const history = await disturbReplicas({ kills: count, every: 4, longest: 12_000 })
    done += count
    operations.push(...ofRound(done, history))
    if (file !== undefined) await writeFile(file, JSON.stringify(operations))
    const reads = history.operations.filter(({ kind }) => kind === 'read').length
    process.stdout.write(
      `${done} kills; in this round ${history.acknowledged.length} acknowledged writes, ${reads} reads, ${history.watches.length} watches: ` +
        'none lost, no read went back, no event lost or repeated\n',
    )
  }
}

// `node --import tsx test/faults/replicas.ts 1000 [history.json]`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [count = '200', file] = process.argv.slice(2)
  await disturbInRounds(Number(count), file)
}
