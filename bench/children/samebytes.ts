import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { childOptions, serveTasks } from '../tools/child.ts'

/** Plain `node:https` with the same bytes, in a separate process: the limit of a server in Node over TLS. */
export interface SameBytesOptions {
  /** PEM. */
  readonly certificate: string
  readonly key: string
  /** Of the file to which the bodies of POSTs are written, and of `object`, `list` and `all`: the bodies of responses. */
  readonly directory: string
}

const { certificate, key, directory } = childOptions<SameBytesOptions>()
const bytesOf = (name: string): Buffer => readFileSync(join(directory, name))
const [object, list, all] = [bytesOf('object'), bytesOf('list'), bytesOf('all')]
const log = await open(join(directory, 'log'), 'a')
const watchers = new Set<ServerResponse>()
const headers = { 'content-type': 'application/json' }

function bodyOf(path: string): Buffer {
  if (path.startsWith('/clusters/*/')) return all
  return path.endsWith('/configmaps') ? list : object
}

function watch(response: ServerResponse): void {
  response.writeHead(200, headers)
  response.flushHeaders()
  watchers.add(response)
  response.on('close', () => watchers.delete(response))
}

/** Bodies that wait for the next flush; one flush is for all that arrived during the last one. */
let waiting: { readonly body: Buffer; readonly written: () => void }[] = []
let flushing = false

async function flushAll(): Promise<void> {
  if (flushing) return
  flushing = true
  while (waiting.length > 0) {
    const batch = waiting
    waiting = []
    await log.write(Buffer.concat(batch.map(({ body }) => body)))
    await log.datasync()
    for (const { written } of batch) written()
  }
  flushing = false
}

async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  await new Promise<void>(written => {
    waiting.push({ body, written })
    void flushAll()
  })
  response.writeHead(201, headers)
  response.end(body)
  if (watchers.size === 0) return
  const event = Buffer.concat([Buffer.from('{"type":"ADDED","object":'), body, Buffer.from('}\n')])
  for (const watcher of watchers) watcher.write(event)
}

const server = createServer({ cert: certificate, key, noDelay: true }, (request, response) => {
  const path = request.url ?? ''
  if (request.method === 'POST') return void create(request, response)
  if (path.includes('?watch=')) return watch(response)
  const body = bodyOf(path)
  response.writeHead(200, { ...headers, 'content-length': body.length })
  response.end(body)
}).listen(0, '127.0.0.1')
await once(server, 'listening')

const tasks = {
  address: () => ({ port: (server.address() as AddressInfo).port, pid: process.pid }),
}

export type SameBytesTasks = typeof tasks

serveTasks(tasks, () => server.closeAllConnections())
