import { Agent, type Dispatcher } from 'undici'
import type { ResourceRef } from '../framework/backend.ts'
import { expired, notServed, type Status, StatusError } from '../framework/errors.ts'
import { type EventType, type Item, type ItemEvent, itemOf } from '../framework/item.ts'
import { apiVersionOf, type ClusterScope, type KubeObject } from '../framework/object.ts'
import type { Endpoint } from '../framework/passage.ts'
import type { ItemList, ItemWatch, ResourceStorage } from '../framework/storage.ts'
import { failureOf } from './failure.ts'
import { statusError } from './shard/connection.ts'

/** A shard as its peers use it: with credentials that may see everything. */
export interface ShardClient {
  /** Lists and watches; writes are refused. */
  storage(resource: ResourceRef): ResourceStorage
  get<T>(path: string, signal: AbortSignal): Promise<T>
  post<T>(path: string, body: object, signal: AbortSignal): Promise<T>
  /** A JSON merge patch. */
  patch<T>(path: string, body: object, signal: AbortSignal): Promise<T>
  delete(path: string, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Nothing here listens to private networks only: shards are the operator's. */
export function createShardClient({ url, tls = {}, headers = {} }: Endpoint): ShardClient {
  const agent = new Agent({ connect: { ...tls, timeout: 10_000 }, headersTimeout: 30_000, bodyTimeout: 0 })
  const ask = (path: string, wanted: Wanted): Promise<Dispatcher.ResponseData> =>
    answered(
      agent.request({
        origin: new URL(url).origin,
        path: new URL(url).pathname.replace(/\/$/, '') + path,
        method: wanted.method ?? 'GET',
        headers: {
          accept: 'application/json',
          'content-type': wanted.method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
          'user-agent': 'oriel',
          ...(headers as Record<string, string>),
        },
        ...(wanted.body === undefined ? {} : { body: JSON.stringify(wanted.body) }),
        signal: wanted.signal,
      }),
    )
  const json = async <T>(path: string, wanted: Wanted): Promise<T> =>
    (await (await ask(path, wanted)).body.json()) as T
  return {
    storage: resource => readOnly(resource, ask),
    get: (path, signal) => json(path, { signal }),
    post: (path, body, signal) => json(path, { method: 'POST', body, signal }),
    patch: (path, body, signal) => json(path, { method: 'PATCH', body, signal }),
    delete: async (path, signal) => void (await json(path, { method: 'DELETE', signal })),
    close: () => agent.destroy(),
  }
}

interface Wanted {
  readonly signal: AbortSignal
  readonly method?: 'POST' | 'PATCH' | 'DELETE'
  readonly body?: object
}

type Ask = (path: string, wanted: Wanted) => Promise<Dispatcher.ResponseData>

async function answered(asked: Promise<Dispatcher.ResponseData>): Promise<Dispatcher.ResponseData> {
  let response: Dispatcher.ResponseData
  try {
    response = await asked
  } catch (error) {
    throw failureOf(error)
  }
  if (response.statusCode < 300) return response
  throw statusError(response.statusCode, await response.body.text())
}

const pageSize = 500

function readOnly(resource: ResourceRef, ask: Ask): ResourceStorage {
  const refuse = () => Promise.reject(notServed())
  return {
    get: refuse,
    create: refuse,
    update: refuse,
    delete: refuse,
    list: (ctx, { cluster }) => list({ resource, ask, cluster, signal: ctx.signal }),
    watch: (ctx, { cluster, resourceVersion = '' }) =>
      watch({ resource, ask, cluster, signal: ctx.signal }, resourceVersion),
  }
}

interface Source {
  readonly resource: ResourceRef
  readonly ask: Ask
  readonly cluster: ClusterScope
  readonly signal: AbortSignal
}

function pathOf({ resource, cluster }: Source, query: Record<string, string>): string {
  const { group, version, resource: plural, identity } = resource
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const name = identity === undefined ? plural : `${plural}:${identity}`
  return `/clusters/${cluster}${root}/${name}?${new URLSearchParams(query)}`
}

interface ObjectList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly KubeObject[] | null
}

async function* list(source: Source): ItemList {
  let token = ''
  for (;;) {
    const query = { limit: String(pageSize), ...(token === '' ? {} : { continue: token }) }
    const response = await source.ask(pathOf(source, query), source)
    const { metadata, items } = (await response.body.json()) as ObjectList
    yield (items ?? []).map(object => itemIn(source, object))
    token = metadata.continue ?? ''
    if (token === '') return { resourceVersion: metadata.resourceVersion }
  }
}

/** Lists of some servers leave out what the list itself says. */
function itemIn({ resource, cluster }: Source, object: KubeObject): Item {
  const apiVersion = object.apiVersion ?? apiVersionOf(resource.group, resource.version)
  return itemOf({ ...object, apiVersion }, object.metadata.annotations?.['kcp.io/cluster'] ?? cluster)
}

interface Frame {
  readonly type: EventType | 'ERROR'
  readonly object: KubeObject & Partial<Status>
}

async function* watch(source: Source, resourceVersion: string): ItemWatch {
  const query = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion }
  const response = await source.ask(pathOf(source, query), source)
  for await (const lines of linesOf(response.body as AsyncIterable<Buffer>)) {
    yield lines.map(line => eventOf(source, JSON.parse(line) as Frame))
  }
}

function eventOf(source: Source, { type, object }: Frame): ItemEvent {
  if (type !== 'ERROR') return { type, item: itemIn(source, object) }
  const { code = 500, reason = '', message = 'the watch has failed' } = object as unknown as Status
  throw code === 410 ? expired(message) : new StatusError(code, reason, message)
}

/** Whole lines, as many at a time as have come. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of chunks) {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const end = all.lastIndexOf('\n')
      rest = all.subarray(end + 1)
      const lines = all
        .toString('utf8', 0, Math.max(end, 0))
        .split('\n')
        .filter(line => line !== '')
      if (lines.length > 0) yield lines
    }
  } catch (error) {
    throw failureOf(error)
  }
}
