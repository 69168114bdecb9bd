import type { OrielTasks } from './children/serve.ts'
import type { Child } from './tools/child.ts'
import { encodeRequest, openSocket } from './tools/connection.ts'
import { exportName, widgetsPath } from './tools/objects.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { type Scratch, withScratch } from './tools/scratch.ts'
import type { Tenants } from './tools/tenants.ts'
import { Watchers } from './watchers.ts'

const watchers = 1_000
const objects = 1_000
const stalled = 50
/** Enough events to fill the ring, so that it does not grow further. */
const flood = { rate: 4_000, milliseconds: 12_000 }
const kibi = 1024

interface Subject {
  readonly server: Child<OrielTasks>
  readonly tenants: Tenants
  readonly path: string
}

async function open(scratch: Scratch, tls: boolean): Promise<Subject> {
  const server = await scratch.oriel({ tls })
  const tenants = await server.ask('tenants', 10)
  await server.ask('fill', { tenants, count: objects })
  const view = `/services/apiexport/${tenants.provider}/${exportName}/clusters/*${widgetsPath}`
  const path = `${view}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`
  return { server, tenants, path }
}

/** Bytes that one idle watch adds to the server. */
async function idle({ server, path }: Subject): Promise<{ readonly rss: number; readonly live: number }> {
  const address = await server.ask('address')
  // The first connections of a process cost more than later ones.
  const first = await Watchers.open(address, path, watchers / 10)
  const before = await server.ask('memory')
  const all = await Watchers.open(address, path, watchers)
  const after = await server.ask('memory')
  all.close()
  first.close()
  return { rss: (after.rss - before.rss) / watchers, live: (after.live - before.live) / watchers }
}

/** Bytes per watcher that are freed when watchers leave that read nothing while events were sent. */
async function held({ server, tenants, path }: Subject): Promise<number> {
  const address = await server.ask('address')
  await server.ask('churn', { tenants, objects, ...flood })
  const sockets = await Promise.all(Array.from({ length: stalled }, () => openSocket(address)))
  for (const socket of sockets) {
    socket.pause()
    socket.write(encodeRequest({ path }))
  }
  const reading = await Watchers.open(address, path, 1)
  await server.ask('churn', { tenants, objects, ...flood })
  const before = await server.ask('memory')
  for (const socket of sockets) socket.destroy()
  await reading.quiet()
  const after = await server.ask('memory')
  reading.close()
  return (before.live - after.live) / stalled
}

const row = (id: string, measure: string, bytes: number): Row => ({
  id,
  measure,
  value: bytes / kibi,
  unit: 'KiB',
})

/** The cost of idle watchers, and of watchers that do not read. */
export const watchMemory: Benchmark = async ({ progress }) => {
  const [http, grown] = await withScratch(async scratch => {
    progress(`${watchers} idle watchers`)
    const subject = await open(scratch, false)
    const taken = await idle(subject)
    progress(`${stalled} watchers that stop reading`)
    return [taken, await held(subject)] as const
  })
  progress(`${watchers} idle watchers over TLS`)
  const https = await withScratch(async scratch => idle(await open(scratch, true)))
  return [
    row('watch-idle-http', 'memory of an idle watcher, HTTP', http.rss),
    row('watch-idle-http-live', 'of which live objects and buffers', http.live),
    row('watch-idle-https', 'memory of an idle watcher, TLS', https.rss),
    row('watch-idle-https-live', 'of which live objects and buffers', https.live),
    row('watch-stalled', 'held by a watcher that stopped reading, 48,000 events ago', grown),
  ]
}
