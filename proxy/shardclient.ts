import type { ResourceRef } from '../framework/contract/backend.ts'
import type { PeerClient } from '../framework/contract/peer.ts'
import type { ResourceStorage } from '../framework/contract/storage.ts'
import { notServed } from '../framework/meta/errors.ts'
import { shardBytes, shardError } from '../framework/net/bodies.ts'
import type { OutgoingResponse } from '../framework/net/client.ts'
import { badGateway, failureOf } from '../framework/net/failure.ts'
import { clientWith, type ServerAccess, type ServerCredentials } from '../framework/net/serveraccess.ts'
import { asPublished, prefixOf } from '../remote/cacheserver.ts'
import { longestSilence, statusError } from '../remote/connection/connection.ts'
import { batches, list, sent } from '../remote/reading/listing.ts'
import type { Source } from '../remote/reading/source.ts'
import { connected, Progress } from '../remote/watches/connected.ts'
import { watch } from '../remote/watching.ts'
import { get } from '../remote/writing.ts'

/**
 * Has no address policy, because shards are servers of the operator. `credentials`: the present ones, instead of those of `access`;
 * requests with former ones complete. `bodyTimeout`: milliseconds without data after which a response fails, so that informers ask
 * again.
 */
export function createShardClient(
  access: ServerAccess,
  credentials: () => ServerCredentials = () => access,
  bodyTimeout = longestSilence,
): PeerClient {
  const { origin, pathname } = new URL(access.server)
  const base = pathname.replace(/\/$/, '')
  const client = clientWith(credentials, { bodyTimeout })
  const ask = (path: string, { method = 'GET', body, signal }: Wanted): Promise<OutgoingResponse> =>
    answered(
      client().request({
        origin,
        path: base + path,
        method,
        signal,
        headers: {
          accept: 'application/json',
          'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
          'user-agent': 'oriel',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  const json = async <T>(path: string, wanted: Wanted): Promise<T> =>
    JSON.parse((await shardBytes((await ask(path, wanted)).body)).toString()) as T
  return {
    storage: resource => readOnly(resource, ask),
    published: (resource, shard) => asPublished(survivingReads(resource, below(prefixOf(shard), ask))),
    get: (path, signal) => json(path, { signal }),
    post: (path, body, signal) => json(path, { method: 'POST', body, signal }),
    put: (path, body, signal) => json(path, { method: 'PUT', body, signal }),
    patch: (path, body, signal) => json(path, { method: 'PATCH', body, signal }),
    delete: async (path, signal) => void (await json(path, { method: 'DELETE', signal })),
    close: () => client().destroy(),
  }
}

interface Wanted {
  readonly signal: AbortSignal
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: object
}

type Ask = (path: string, wanted: Wanted) => Promise<OutgoingResponse>

const below =
  (prefix: string, ask: Ask): Ask =>
  (path, wanted) =>
    ask(prefix + path, wanted)

async function answered(asked: Promise<OutgoingResponse>): Promise<OutgoingResponse> {
  let response: OutgoingResponse
  try {
    response = await asked
  } catch (error) {
    throw failureOf(error)
  }
  if (response.statusCode < 300) return response
  const text = await shardError(response.body)
  // It is about the credentials of this server, not about those of its client.
  if (response.statusCode === 401) throw badGateway('the shard rejected the credentials of this server')
  throw statusError(response.statusCode, text)
}

const refuse = () => Promise.reject(notServed())
const refused = { get: refuse, create: refuse, update: refuse, delete: refuse }

const sourceOf = (ref: ResourceRef, ask: Ask): Source => ({ ref, ask: (ctx, { target }) => ask(target, ctx) })

/** Reads for clients: watches go on over a new connection when one ends. */
function survivingReads(ref: ResourceRef, ask: Ask): ResourceStorage {
  const source = sourceOf(ref, ask)
  return {
    ...refused,
    get: get(source),
    list: (ctx, query) => list(batches(source, ctx, query)),
    watch: (ctx, query) => watch(source, ctx, query),
  }
}

/** Reads over one connection. The caller retries when it ends. */
function readOnly(ref: ResourceRef, ask: Ask): ResourceStorage {
  const source = sourceOf(ref, ask)
  return {
    ...refused,
    list: (ctx, query) => list(sent(source, ctx, query)),
    watch: (ctx, query) => connected({ source, ctx, query }, new Progress(query.resourceVersion)),
  }
}
