import { type Address, attackerToken, encodeRequest, openSocket } from '../tools/connection.ts'
import { load } from '../tools/load.ts'
import { exportName, widget, widgetsIn, widgetsPath } from '../tools/objects.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { type Scratch, withScratch } from '../tools/scratch.ts'
import { alternate } from '../tools/statistics.ts'
import type { Tenants } from '../tools/tenants.ts'

const objects = 10_000
const clusters = 100
const milliseconds = 2_000
const rounds = 3

/** A server with two users, who do the same at different times. */
interface Subject {
  readonly tenants: Tenants
  readonly address: Address
}

async function open(scratch: Scratch): Promise<Subject> {
  const server = await scratch.oriel()
  const tenants = await server.ask('tenants', clusters)
  await server.ask('fill', { tenants, count: objects })
  return { tenants, address: await server.ask('address') }
}

const listOf = ({ provider }: Tenants): string =>
  `/services/apiexport/${provider}/${exportName}/clusters/*${widgetsPath}`
const widgetsOf = ({ consumers }: Tenants, i: number): string =>
  `/clusters/${consumers[i]}${widgetsIn('default')}`

/** Sends the bytes on so many connections, reads nothing, and returns what closes them. */
async function stall(address: Address, count: number, bytes: Buffer): Promise<() => void> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(address)))
  for (const socket of sockets) {
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(bytes)
  }
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}

const unread = ({ address, tenants }: Subject): Promise<() => void> =>
  stall(address, 480, encodeRequest({ path: listOf(tenants), token: attackerToken }))

function halfSent({ address, tenants }: Subject): Promise<() => void> {
  const body = JSON.stringify(widget('half'))
  const whole = encodeRequest({ method: 'POST', path: widgetsOf(tenants, 1), body, token: attackerToken })
  return stall(address, 250, whole.subarray(0, -10))
}

/** Lists on many connections by a client that reads. */
async function pulled(scratch: Scratch, { address, tenants }: Subject): Promise<() => Promise<void>> {
  const puller = await scratch.puller(address)
  const path = listOf(tenants)
  const pulling = puller.ask('pull', { path, connections: 64, milliseconds, token: attackerToken })
  return async () => {
    await pulling
    await puller.stop()
  }
}

/** The p99 of GETs of one user, in milliseconds. Throws when one gets another status than 200. */
async function reads({ address, tenants }: Subject): Promise<number> {
  const request = encodeRequest({ path: `${widgetsOf(tenants, 0)}/widget-0` })
  return (await load(address, { connections: 4, milliseconds, rest: 2, request: () => request })).p99
}

let created = 0

/** The p99 of CREATEs, likewise. */
async function writes({ address, tenants }: Subject): Promise<number> {
  const request = (): Buffer => {
    const body = JSON.stringify(widget(`victim-${created++}`))
    return encodeRequest({ method: 'POST', path: widgetsOf(tenants, 0), body })
  }
  return (await load(address, { connections: 4, milliseconds, rest: 2, request, status: 201 })).p99
}

interface Attack {
  readonly id: string
  readonly measure: string
  readonly begin: () => Promise<() => unknown>
  readonly victim: () => Promise<number>
}

async function rowOf({ id, measure, begin, victim }: Attack): Promise<Row> {
  const attacked = async (): Promise<number> => {
    const end = await begin()
    const p99 = await victim()
    await end()
    return p99
  }
  const p99 = await alternate(rounds, { idle: victim, attacked })
  return {
    id,
    measure,
    value: p99.attacked,
    unit: 'ms',
    against: { what: 'idle', value: p99.idle },
    target: { atMost: 10 },
  }
}

/** What one user waits while another one attacks; a refused request of the user ends the benchmark with an error. */
export const attacks: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    progress('filling')
    const subject = await open(scratch)
    const all: readonly Attack[] = [
      {
        id: 'attack-unread',
        measure: 'p99 of a GET while another user does not read 480 lists',
        begin: () => unread(subject),
        victim: () => reads(subject),
      },
      {
        id: 'attack-half-sent',
        measure: 'p99 of a CREATE while another user does not send 250 bodies',
        begin: () => halfSent(subject),
        victim: () => writes(subject),
      },
      {
        id: 'attack-lists',
        measure: 'p99 of a GET while another user reads lists on 64 connections',
        begin: () => pulled(scratch, subject),
        victim: () => reads(subject),
      },
    ]
    const rows: Row[] = []
    for (const attack of all) {
      progress(attack.measure)
      rows.push(await rowOf(attack))
    }
    return rows
  })
