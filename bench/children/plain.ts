import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveTasks } from '../tools/child.ts'
import type { Address } from '../tools/connection.ts'
import { stamp } from './churn.ts'

/** Plain `node:http` with the same bytes, in a separate process: the limit, and the usual implementations. */

/** Headers of an answer that is sent unchanged. */
type Headers = Readonly<Record<string, string>>

let whole = Buffer.alloc(0)
let items: readonly Buffer[] = []
let wholeHeaders: Headers = {}
const watchers = new Set<ServerResponse>()

const chunkSize = 64 * 1024

/** A server that keeps objects encoded and rewrites one annotation of each. */
async function rewriteEach(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' })
  let chunk: string[] = ['{"kind":"WidgetList","apiVersion":"bench.oriel.dev/v1","items":[']
  let size = 0
  for (const [i, bytes] of items.entries()) {
    const object = JSON.parse(bytes.toString())
    object.metadata.annotations = { ...object.metadata.annotations, 'kcp.io/path': 'root:consumer' }
    const json = JSON.stringify(object)
    chunk.push(i === 0 ? json : `,${json}`)
    size += json.length
    if (size < chunkSize) continue
    const taken = response.write(chunk.join(''))
    chunk = []
    size = 0
    if (!taken) await once(response, 'drain')
  }
  response.end(`${chunk.join('')}],"metadata":{"resourceVersion":"1"}}\n`)
}

function watch(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  watchers.add(response)
  response.on('close', () => watchers.delete(response))
}

const server = createServer((request, response) => {
  if (request.url === '/rewrite') void rewriteEach(response)
  else if (request.url === '/watch') watch(response)
  else {
    response.writeHead(200, wholeHeaders)
    response.end(whole)
  }
}).listen(0, '127.0.0.1')
await once(server, 'listening')

/** Events at a steady rate, encoded for each watcher, until the time is over. */
async function churn({ rate, milliseconds }: { rate: number; milliseconds: number }): Promise<number> {
  const objects = items.slice(0, 1000).map(bytes => JSON.parse(bytes.toString()))
  const begin = performance.now()
  let changes = 0
  for (let gone = 0; gone < milliseconds; gone = performance.now() - begin) {
    for (const due = Math.floor((gone * rate) / 1000); changes < due; changes++) {
      const object = objects[changes % objects.length]
      object.spec.sentAt = stamp()
      for (const watcher of watchers) watcher.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`)
      if (performance.now() - begin > milliseconds) return changes
      await new Promise(resolve => setImmediate(resolve))
    }
    await sleep(5)
  }
  return changes
}

const tasks = {
  address: (): Address => ({ port: (server.address() as AddressInfo).port }),
  /** Answers every other path with the bytes of a file. */
  answer: ({ path, headers }: { path: string; headers: Headers }): void => {
    whole = readFileSync(path)
    wholeHeaders = headers
  },
  /** Keeps the items of a list file one by one. */
  keep: (path: string): number => {
    const list: { items: readonly object[] } = JSON.parse(readFileSync(path, 'utf8'))
    items = list.items.map(item => Buffer.from(JSON.stringify(item)))
    return items.length
  },
  churn,
  cpu: () => process.cpuUsage(),
}

export type PlainTasks = typeof tasks

serveTasks(tasks)
