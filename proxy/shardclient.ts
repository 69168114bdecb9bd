import type { ResourceRef } from '../framework/contract/backend.ts'
import type { PeerClient } from '../framework/contract/peer.ts'
import type { ResourceStorage } from '../framework/contract/storage.ts'
import { notServed } from '../framework/meta/errors.ts'
import { createClient, type OutgoingResponse } from '../framework/net/client.ts'
import { failureOf } from '../framework/net/failure.ts'
import { authorizationOf, type ServerAccess, tlsOf } from '../framework/net/serveraccess.ts'
import { statusError } from '../remote/connection/connection.ts'
import { list, sent } from '../remote/reading/listing.ts'
import type { Source } from '../remote/reading/source.ts'
import { connected, Progress } from '../remote/watches/connected.ts'

/** Has no address policy, because shards are servers of the operator. */
export function createShardClient(access: ServerAccess): PeerClient {
  const { origin, pathname } = new URL(access.server)
  const base = pathname.replace(/\/$/, '')
  const client = createClient({ tls: tlsOf(access), headers: { ...authorizationOf(access) } })
  const ask = (path: string, { method = 'GET', body, signal }: Wanted): Promise<OutgoingResponse> =>
    answered(
      client.request({
        ...{ origin, path: base + path, method, signal },
        headers: {
          accept: 'application/json',
          'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
          'user-agent': 'oriel',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
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
    close: () => client.destroy(),
  }
}

interface Wanted {
  readonly signal: AbortSignal
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly body?: object
}

type Ask = (path: string, wanted: Wanted) => Promise<OutgoingResponse>

async function answered(asked: Promise<OutgoingResponse>): Promise<OutgoingResponse> {
  let response: OutgoingResponse
  try {
    response = await asked
  } catch (error) {
    throw failureOf(error)
  }
  if (response.statusCode < 300) return response
  throw statusError(response.statusCode, await response.body.text())
}

/** Reads over one connection. The caller retries when it ends. */
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
