import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Frame } from '../support/client.ts'
import type { History, Watched } from './history.ts'

const path = '/clusters/root/api/v1/namespaces/default/configmaps'
export const keys = ['checked-0', 'checked-1', 'checked-2', 'checked-3'] as const

/** Clients of all servers, until `stop` aborts. */
export interface Crowd {
  readonly clients: readonly Client[]
  readonly history: History
  readonly stop: AbortSignal
}

const anyOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T
const valueIn = (object: object): string => (object as { data?: { n?: string } }).data?.n ?? ''

/**
 * The server does not know or did not try: 429 is for requests after SIGTERM (`WithRetryAfter` of kube-apiserver), 408 for those
 * of which a part was missing for a minute, because a process was stopped.
 */
const isNoAnswer = (status: number): boolean => status === 408 || status === 429 || status >= 500

/** undefined: the server was killed, or the connection was cut. */
async function attempt<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch {
    await sleep(20)
    return undefined
  }
}

/** Creates the objects; returns the version before. */
export async function createObjects(client: Client): Promise<string> {
  const { resourceVersion = '' } = (await client(path)).json().metadata
  for (const name of keys) {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }
    assert.equal((await client(path, { method: 'POST', body })).status, 201)
  }
  return resourceVersion
}

/** Writes and reads any object through any server, one request after the other. */
export async function useObjects(crowd: Crowd, client: number): Promise<void> {
  for (let n = 1; !crowd.stop.aborted; n++) {
    await write(crowd, client, `${client}-${n}`)
    await read(crowd, client)
  }
}

async function write({ clients, history }: Crowd, client: number, value: string): Promise<void> {
  const key = anyOf(keys)
  const headers = { 'content-type': 'application/merge-patch+json' }
  const begun = performance.now()
  const sent = { method: 'PATCH', headers, body: { data: { n: value } } }
  const reply = await attempt(() => anyOf(clients)(`${path}/${key}`, sent))
  const written = { client, kind: 'write', key, value, begun } as const
  if (reply?.status !== 200) {
    assert.ok(reply === undefined || isNoAnswer(reply.status), `${reply?.status}: ${reply?.text}`)
    history.operations.push(written)
    return
  }
  const version = Number(reply.json().metadata.resourceVersion)
  history.operations.push({ ...written, version, ended: performance.now() })
}

/** Reads that fail say nothing. */
async function read({ clients, history }: Crowd, client: number): Promise<void> {
  const key = anyOf(keys)
  const begun = performance.now()
  const reply = await attempt(() => anyOf(clients)(`${path}/${key}`))
  if (reply?.status !== 200) {
    assert.ok(reply === undefined || isNoAnswer(reply.status), `${reply?.status}: ${reply?.text}`)
    return
  }
  const object = reply.json()
  const version = Number(object.metadata.resourceVersion)
  const ended = performance.now()
  history.operations.push({ client, kind: 'read', key, value: valueIn(object), version, begun, ended })
}

/** Watches from `version` on, at another server whenever a stream ends. `first`: the server at which it begins. */
export async function watchObjects(
  { clients, history, stop }: Crowd,
  version: string,
  first: number,
): Promise<void> {
  const watched: Watched[] = []
  history.watches.push(watched)
  for (let turn = first; !stop.aborted; turn++) {
    const last = watched.at(-1)?.version ?? version
    const query = `?watch=1&resourceVersion=${last}&timeoutSeconds=${1 + (turn % 3)}`
    const stream = await attempt(() => (clients[turn % clients.length] as Client).watch(path + query))
    if (stream === undefined) continue
    if (stream.status !== 200) {
      assert.ok(isNoAnswer(stream.status), `the watch after ${last} got ${stream.status}`)
      await sleep(20)
      continue
    }
    for (let frame = await attempt(() => stream.next()); frame; frame = await attempt(() => stream.next()))
      note(watched, frame)
  }
}

function note(watched: Watched[], { type, object }: Frame): void {
  assert.notEqual(type, 'ERROR', JSON.stringify(object))
  const { name = '', resourceVersion } = object.metadata
  if (keys.some(key => key === name))
    watched.push({ key: name, value: valueIn(object), version: Number(resourceVersion) })
}

/** Reads every object at every server. */
export async function readAll({ clients, history }: Crowd): Promise<void> {
  for (const [client, ask] of clients.entries())
    for (const key of keys) {
      const begun = performance.now()
      const object = (await ask(`${path}/${key}`)).json()
      const version = Number(object.metadata.resourceVersion)
      const ended = performance.now()
      history.operations.push({ client, kind: 'read', key, value: valueIn(object), version, begun, ended })
    }
}
