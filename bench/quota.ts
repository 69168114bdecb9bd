import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, Connection, encodeRequest, peerToken } from './tools/connection.ts'
import { load } from './tools/load.ts'
import type { Benchmark } from './tools/result.ts'
import { withScratch } from './tools/scratch.ts'
import { alternate } from './tools/statistics.ts'

const connections = 64
const milliseconds = 2_000
const rounds = 5

const quota = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'all' },
  spec: { hard: { 'count/configmaps': '1000000' } },
}

const configMap = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { text: 'x'.repeat(200) },
  })

/** Creates the quota, and waits until it counts. */
async function limit(address: Address, namespace: string): Promise<void> {
  const connection = await Connection.open(address)
  const path = `${namespace}/resourcequotas`
  await connection.read({ method: 'POST', path, token: peerToken, body: JSON.stringify(quota) })
  for (;;) {
    const { body } = await connection.read({ path: `${path}/all`, token: peerToken })
    if (JSON.parse(body.toString()).status?.used !== undefined) break
    await sleep(20)
  }
  connection.close()
}

let created = 0

async function create(address: Address, namespace: string): Promise<number> {
  const request = (): Buffer =>
    encodeRequest({
      method: 'POST',
      path: `${namespace}/configmaps`,
      body: configMap(`created-${created++}`),
    })
  return (await load(address, { connections, milliseconds, request, status: 201 })).perSecond
}

/** Creations under one ResourceQuota, which counts each of them, and without one. It fails when one is refused. */
export const quotaCounts: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    const server = await scratch.oriel({ store: join(scratch.directory, 'store'), tls: true })
    const { consumers } = await server.ask('tenants', 2)
    const [limited = '', free = ''] = consumers.map(
      cluster => `/clusters/${cluster}/api/v1/namespaces/default`,
    )
    const address = await server.ask('address')
    await limit(address, limited)
    progress(`creations with ${connections} clients`)
    const perSecond = await alternate(rounds, {
      limited: () => create(address, limited),
      free: () => create(address, free),
    })
    return [
      {
        id: 'quota.create',
        measure: `CREATE under a ResourceQuota, ${connections} clients over TLS`,
        value: perSecond.limited,
        unit: '/s',
        against: { what: 'without a quota', value: perSecond.free },
      },
    ]
  })
