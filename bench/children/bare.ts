import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { childOptions, serveTasks } from '../tools/child.ts'

/** A plain `node:https` server in a separate process: the cost of watchers in Node. */
export interface BareOptions {
  /** Of files. */
  readonly cert: string
  readonly key: string
}

const { cert, key } = childOptions<BareOptions>()
const watchers = new Set<ServerResponse>()
const server = createServer(
  { cert: readFileSync(cert), key: readFileSync(key), noDelay: true },
  (_, response) => {
    watchers.add(response)
    response.on('close', () => watchers.delete(response))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
  },
)

const tasks = {
  async listen(): Promise<{ readonly port: number; readonly pid: number }> {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { port: (server.address() as AddressInfo).port, pid: process.pid }
  },
  /** Sends events to all watchers, one after the other. */
  async send({ events, bytes }: { events: number; bytes: number }): Promise<void> {
    const event = Buffer.alloc(bytes, 'x')
    for (let i = 0; i < events; i++) {
      for (const watcher of watchers) watcher.write(event)
      await sleep(10)
    }
  },
}

export type BareTasks = typeof tasks

serveTasks(tasks, () => server.closeAllConnections())
