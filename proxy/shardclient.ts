import { Agent, type Dispatcher } from 'undici'
import type { ResourceRef } from '../framework/contract/backend.ts'
import type { ResourceStorage } from '../framework/contract/storage.ts'
import { notServed } from '../framework/meta/errors.ts'
import { failureOf } from '../framework/net/failure.ts'
import { authorizationOf, type ServerAccess, tlsOf } from '../framework/net/serveraccess.ts'
import { statusError } from '../remote/connection/connection.ts'
import { list, sent } from '../remote/reading/listing.ts'
import type { Source } from '../remote/reading/source.ts'
import { connected, Progress } from '../remote/watches/connected.ts'

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
export function createShardClient(access: ServerAccess): ShardClient {
  const url = access.server
  const agent = new Agent({
    connect: { ...tlsOf(access), timeout: 10_000 },
    headersTimeout: 30_000,
    bodyTimeout: 0,
  })
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
          ...authorizationOf(access),
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

/** As they come from one connection: whoever reads starts again when it ends. */
function readOnly(ref: ResourceRef, ask: Ask): ResourceStorage {
  const refuse = () => Promise.reject(notServed())
  const source: Source = { ref, ask: (ctx, { target }) => ask(target, ctx) }
  return {
    get: refuse,
    create: refuse,
    update: refuse,
    delete: refuse,
    list: (ctx, query) => list(sent(source, ctx, query)),
    watch: (ctx, query) => connected({ source, ctx, query }, new Progress(query.resourceVersion)),
  }
}
