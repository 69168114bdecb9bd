import { type Address, Connection, encodeRequest } from './connection.ts'
import { load } from './load.ts'
import type { Benchmark, Row } from './result.ts'
import { withScratch } from './scratch.ts'
import { alternate } from './statistics.ts'

const group = 'bench.example.com'
const clients = 8
const milliseconds = 2_000
const rounds = 3
/** About 40 kB with its managedFields. */
const ports = 150

const text = { type: 'string' }
const port = {
  type: 'object',
  required: ['name'],
  properties: { name: text, port: { type: 'integer' }, protocol: text, description: text, revision: text },
}
const spec = {
  type: 'object',
  properties: {
    ports: {
      type: 'array',
      items: port,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
  },
}

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `routers.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'routers', singular: 'router', kind: 'Router', listKind: 'RouterList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
}

const router = (name: string, revision: string) => ({
  apiVersion: `${group}/v1`,
  kind: 'Router',
  metadata: { name },
  spec: {
    ports: Array.from({ length: ports }, (_, i) => ({
      name: `port-${i}`,
      port: 8000 + i,
      protocol: 'TCP',
      description: `where number ${i} of the router's services listens`,
      revision,
    })),
  },
})

const base = '/clusters/root/apis'
const objects = `${base}/${group}/v1/routers`
const asManager = '?fieldManager=bench&force=true'

/** Serves routers. */
async function define(address: Address): Promise<void> {
  const connection = await Connection.open(address)
  const definitions = `${base}/apiextensions.k8s.io/v1/customresourcedefinitions`
  await connection.read({ method: 'POST', path: definitions, body: JSON.stringify(definition) })
  while ((await connection.read({ path: objects })).status !== 200);
  for (let i = 0; i < clients; i++) await connection.read(applying(i, 0))
  connection.close()
}

const applying = (client: number, revision: number) => ({
  method: 'PATCH',
  path: `${objects}/router-${client}${asManager}`,
  body: JSON.stringify(router(`router-${client}`, String(revision))),
  contentType: 'application/apply-patch+yaml',
})

const patching = (client: number, revision: number) => ({
  method: 'PATCH',
  path: `${objects}/router-${client}`,
  body: JSON.stringify({ metadata: { labels: { revision: String(revision) } } }),
  contentType: 'application/merge-patch+json',
})

/** How many changes each client makes to an object of its own. */
async function changes(address: Address, make: typeof applying): Promise<number> {
  let count = 0
  const request = (): Buffer => {
    const next = ++count
    return encodeRequest(make(next % clients, next))
  }
  return (await load(address, { connections: clients, milliseconds, request })).perSecond
}

/** Changes of an object of 40 kB whose every field is owned: by server-side apply, and by a patch of one field. */
export const apply: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    progress('starting')
    const server = await scratch.oriel({ store: 'memory:' })
    const address = await server.ask('address')
    await define(address)
    const perSecond = await alternate(rounds, {
      apply: () => changes(address, applying),
      patch: () => changes(address, patching),
    })
    return [
      {
        id: 'apply.apply',
        measure: `apply of 40 kB, ${clients} clients`,
        value: perSecond.apply,
        unit: '/s',
        against: { what: 'merge patches of one label', value: perSecond.patch },
      },
    ] satisfies Row[]
  })
