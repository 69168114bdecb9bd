import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OrielTasks } from './children/serve.ts'
import type { Child } from './tools/child.ts'
import { type Address, Connection, encodeRequest } from './tools/connection.ts'
import { load } from './tools/load.ts'
import { widget, widgetsIn } from './tools/objects.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { type Scratch, withScratch } from './tools/scratch.ts'
import { alternate } from './tools/statistics.ts'

const connections = 64
const milliseconds = 2_000
const rounds = 5

/** One server with one consumer and its widgets. */
interface Subject {
  readonly address: Address
  readonly widgets: string
  readonly server: Child<OrielTasks>
}

async function open(scratch: Scratch, store: string): Promise<Subject> {
  const server = await scratch.oriel({ store })
  const tenants = await server.ask('tenants', 1)
  await server.ask('fill', { tenants, count: 1000 })
  const widgets = `/clusters/${tenants.consumers[0]}${widgetsIn('default')}`
  return { server, widgets, address: await server.ask('address') }
}

/** GET of one object: the same bytes from plain node:http. */
async function plainGet(scratch: Scratch, { address, widgets }: Subject): Promise<Address> {
  const connection = await Connection.open(address)
  const { head, body } = await connection.read({ path: `${widgets}/widget-0` })
  connection.close()
  const path = join(scratch.directory, 'object.json')
  await writeFile(path, body)
  const lines = head.split('\r\n').slice(1)
  const own = /^(date|connection|keep-alive):/i
  const headers = Object.fromEntries(
    lines.filter(line => !own.test(line)).map(line => line.split(/: */, 2) as [string, string]),
  )
  const plain = await scratch.plain()
  await plain.ask('answer', { path, headers })
  return plain.ask('address')
}

async function get(address: Address, path: string): Promise<number> {
  const request = encodeRequest({ path })
  return (await load(address, { connections, milliseconds, request: () => request })).perSecond
}

let created = 0

async function create({ address, widgets }: Subject): Promise<number> {
  const request = (): Buffer =>
    encodeRequest({ method: 'POST', path: widgets, body: JSON.stringify(widget(`created-${created++}`)) })
  return (await load(address, { connections, milliseconds, request, status: 201 })).perSecond
}

/** Single objects with 64 clients: the cost of the server and of durability. */
export const point: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    progress('filling')
    const durable = await open(scratch, join(scratch.directory, 'store'))
    const memory = await open(scratch, 'memory:')
    const plain = await plainGet(scratch, durable)
    progress('GET')
    const gets = await alternate(rounds, {
      oriel: () => get(durable.address, `${durable.widgets}/widget-0`),
      plain: () => get(plain, '/'),
    })
    progress('CREATE')
    const creates = await alternate(rounds, { durable: () => create(durable), memory: () => create(memory) })
    return [
      {
        id: 'get',
        measure: 'GET, 64 clients',
        value: gets.oriel,
        unit: '/s',
        against: { what: 'node:http, same bytes', value: gets.plain },
        target: { atLeast: 0.6 },
      },
      {
        id: 'create',
        measure: 'CREATE, durable, 64 clients',
        value: creates.durable,
        unit: '/s',
        against: { what: 'the same in memory', value: creates.memory },
        target: { atLeast: 0.7 },
      },
    ] satisfies Row[]
  })
