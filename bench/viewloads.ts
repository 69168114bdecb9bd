import type { Standalone } from '../test/support/servers/standalone.ts'
import type { Tenant } from '../test/support/tenants.ts'
import { type Address, Connection, encodeRequest } from './tools/connection.ts'
import { load } from './tools/load.ts'
import type { Done, Sides } from './tools/sides.ts'
import { Watchers } from './watchers.ts'

export const objects = 10_000
export const watchers = 1_000
export const listers = 16
/** Of objects, one event each. */
export const changes = 50
export const group = 'cert-manager.io'
export const collection = `/apis/${group}/v1/certificates`
export const inNamespace = `/apis/${group}/v1/namespaces/default/certificates`

/** The input of the measurements. */
export interface Subject {
  readonly standalone: Standalone
  readonly sides: Sides
  readonly shard: Address
  readonly consumer: Tenant
  /** The path of the view, the same on either side. */
  readonly view: string
}

/** Objects of whole lists that this many clients request concurrently. */
export async function listed(address: Address, path: string, connections = 1): Promise<Done> {
  const begin = performance.now()
  const request = (): Buffer => encodeRequest({ path })
  const perSecond = (await load(address, { connections, milliseconds: 5_000, request })).perSecond * objects
  return { perSecond, count: (perSecond * (performance.now() - begin)) / 1000 }
}

const quietAfter = 300

/** The time of the last event: no further event arrived for a while, also on a busy machine. */
async function lastArrival(open: Watchers): Promise<number> {
  let last = performance.now()
  for (let still = 0; still < 8; ) {
    const before = open.bytes
    await open.quiet()
    still = open.bytes === before ? still + 1 : 0
    if (still === 0) last = performance.now() - quietAfter
  }
  return last
}

/** Changes objects at the shard one after the other: kcp closes watches that are too slow. */
async function change({ consumer, shard }: Subject): Promise<void> {
  const connection = await Connection.open(shard)
  for (let i = 0; i < changes; i++) {
    const path = `/clusters/${consumer.cluster}${inNamespace}/n${i}`
    const body = JSON.stringify({ metadata: { labels: { changed: String(performance.now()) } } })
    await connection.read({ path, method: 'PATCH', body, contentType: 'application/merge-patch+json' })
  }
  connection.close()
}

export const watched = async ({ consumer, shard, view }: Subject, address: Address): Promise<Watchers> =>
  Watchers.open(
    address,
    `${view}/clusters/*${collection}?watch=1&resourceVersion=${await versionOf(shard, consumer)}`,
    watchers,
  )

/** Events that arrive at all watchers together. */
export async function fannedOut(subject: Subject, address: Address): Promise<Done> {
  const open = await watched(subject, address)
  const before = open.bytes
  const begin = performance.now()
  await change(subject)
  const seconds = ((await lastArrival(open)) - begin) / 1000
  const each = (open.bytes - before) / watchers / changes
  if (each < 1_000) throw new Error(`only ${each} bytes of each event have arrived`)
  open.close()
  const count = changes * watchers
  return { count, perSecond: count / seconds }
}

async function versionOf(shard: Address, { cluster }: Tenant): Promise<string> {
  const connection = await Connection.open(shard)
  const { body } = await connection.read({ path: `/clusters/${cluster}${inNamespace}?limit=1` })
  connection.close()
  return (JSON.parse(body.toString()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion
}

export async function asked(address: Address, path: string, method: 'GET' | 'PATCH'): Promise<Done> {
  let count = 0
  const request = (): Buffer => {
    const name = `n${count++ % objects}`
    if (method === 'GET') return encodeRequest({ path: `${path}/${name}` })
    const body = JSON.stringify({ metadata: { labels: { count: String(count) } } })
    return encodeRequest({
      path: `${path}/${name}`,
      method,
      body,
      contentType: 'application/merge-patch+json',
    })
  }
  const { perSecond } = await load(address, { connections: 16, milliseconds: 3_000, request })
  return { count, perSecond }
}
