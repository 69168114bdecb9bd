import { bodyOf, type Readers } from '../framework/async/awaitable.ts'
import type { ClientSide, Forwarding } from '../framework/contract/upstream.ts'
import { expired, notAcceptable, serviceUnavailable } from '../framework/meta/errors.ts'
import { shardError } from '../framework/net/bodies.ts'
import type { OutgoingResponse } from '../framework/net/client.ts'
import { failureOf } from '../framework/net/failure.ts'
import type { Incoming } from '../framework/request/incoming.ts'
import { parseRequestInfo, type RequestInfo } from '../framework/request/requestinfo.ts'
import type { Answer } from '../framework/request/response.ts'
import { accountOf, type UserInfo } from '../framework/request/user.ts'
import { type Negotiated, negotiate, parseAccept } from '../framework/responses/negotiation.ts'
import { respond } from '../framework/server/respond.ts'
import { commonHeaders, type Exchange } from '../framework/server/serve.ts'
import { passWarnings, statusError } from '../remote/connection/connection.ts'
import type { Mapping } from './mapping.ts'
import type { DocumentMemory } from './queries/documentmemory.ts'
import { documentOf } from './queries/documents.ts'
import { listParts } from './queries/list.ts'
import type { Parameters, ShardPart } from './queries/part.ts'
import { watchParts } from './queries/watch.ts'
import type { ProxyRoutes } from './routes.ts'
import type { ShardAddress, ShardSet } from './shardindex.ts'

const queryOfAll = /^\/services\/query\/clusters\/(?:\*|%2a)(\/.*|)$/i

/** A query about the logical clusters of all shards. Other methods than GET are refused by any shard. */
export const isQueryOfAll = ({ method, path }: Incoming): boolean => method === 'GET' && queryOfAll.test(path)

/** A query with its authenticated user. */
export interface AllShardsQuery {
  readonly exchange: Exchange
  readonly user: UserInfo
  readonly routes: ProxyRoutes
  /** Of the tree. */
  readonly mapping: Mapping
  /** The turns in which the lists of all clients are written. */
  readonly slices: Readers
  /** What counts the bytes of the documents of all clients. */
  readonly documents: DocumentMemory
}

/** Milliseconds for a list. */
const timeout = 60_000
/** Milliseconds after which a shard without the resource of a watch is asked again. */
const pause = 10_000

/** Asks all shards, each of which authorizes the user, and answers with what they have together. */
export const allShards = (shards: ShardSet, query: AllShardsQuery): Forwarding => ({
  async forward(client) {
    const isOver = new AbortController()
    const signal = AbortSignal.any([query.exchange.lifetime.signal, isOver.signal])
    try {
      const answer = await answerOf(shards, query, { client, signal })
      const { exchange, slices } = query
      const headers = commonHeaders(exchange)
      const reply = { answer, headers, isHead: false, sent: exchange.measured, slices }
      await respond(client.response, reply, client.lifetime)
    } finally {
      // The watches of the other shards go on when that of one ends.
      isOver.abort()
    }
  },
})

interface Asking {
  readonly client: ClientSide
  /** Aborted when the response is complete. */
  readonly signal: AbortSignal
}

async function answerOf({ all, changed }: ShardSet, query: AllShardsQuery, asking: Asking): Promise<Answer> {
  const { incoming, lifetime } = query.exchange
  const info = infoIn(incoming)
  const accept = jsonOf(incoming)
  const parts = all.map(shard => partOf(shard, { ...query, ...asking, accept }))
  if (info.verb === 'watch') {
    lifetime.follow(changed, 'replaced')
    const { transform } = formOf(incoming, accept, 'watch')
    const watch = { parts, query: incoming.query, isTable: transform?.kind === 'Table', pause }
    const body = await watchParts({ ...watch, signal: asking.signal })
    return { ...json, body, flush: true }
  }
  lifetime.limit(timeout)
  if (info.verb !== 'list') {
    const reader = { account: accountOf(query.user), signal: asking.signal }
    return documentOf(parts, { memory: query.documents, reader })
  }
  formOf(incoming, accept, 'objects')
  return { ...json, body: await begun(listParts(parts, incoming.query)) }
}

/** The chunks. The first one is read at once: errors and warnings before it are in the head of the response. */
async function begun(chunks: AsyncGenerator<Buffer, void>): Promise<AsyncIterable<Buffer>> {
  return bodyOf(chunks, () => void chunks.return(), [await chunks.next()])
}

const json = { status: 200, contentType: 'application/json' }

function infoIn({ method, path, query }: Incoming): RequestInfo {
  return parseRequestInfo({ method, path: queryOfAll.exec(path)?.[1] ?? '', query })
}

/** The clauses of the Accept header that are about JSON. Throws 406 where there are none. */
function jsonOf({ headers, path }: Incoming): string {
  const clauses = parseAccept(headers.accept).filter(({ type }) => jsonTypes.has(type))
  if (clauses.length === 0 && !path.includes('/openapi/')) throw notAcceptable(['application/json'])
  if (clauses.length === 0) return String(headers.accept)
  return clauses
    .map(({ parameters: { q: _, ...parameters } }) =>
      ['application/json', ...Object.entries(parameters).map(([name, value]) => `${name}=${value}`)].join(
        ';',
      ),
    )
    .join(',')
}

const jsonTypes = new Set(['application/json', 'application/*', '*/*', '*'])

/** The form that shards choose. Throws 406 for other forms. */
const formOf = ({ query }: Incoming, accept: string, endpoint: 'objects' | 'watch'): Negotiated =>
  negotiate({ headers: { accept }, query }, endpoint)

interface PartOptions extends AllShardsQuery, Asking {
  readonly accept: string
}

function partOf(shard: ShardAddress, options: PartOptions): ShardPart {
  const { exchange, user, routes, mapping, client, accept, signal } = options
  const { incoming, record } = exchange
  const request = { exchange, user, mapping, accept, url: shard.baseURL, path: incoming.path }
  return {
    shard: shard.name,
    async ask(parameters) {
      const search = searchOf(incoming.query, parameters)
      const response = await routes.ask({ ...request, search, signal }, client).catch(error => {
        throw unreachable(shard, error)
      })
      passWarnings({ record }, response)
      if (response.statusCode !== 200) throw await refusalOf(shard, response)
      return response
    },
  }
}

function searchOf(query: URLSearchParams, parameters: Parameters): string {
  const search = new URLSearchParams(query)
  const own: Parameters = { ...parameters, part: 'true', pretty: 'false' }
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined) search.delete(name)
    else search.set(name, value)
  }
  return `?${search}`
}

/** A list without the objects of a shard would look complete. */
const unreachable = ({ name }: ShardAddress, error: unknown): Error =>
  serviceUnavailable(`the shard ${name} cannot be asked: ${failureOf(error).message}`, 1)

async function refusalOf(shard: ShardAddress, { statusCode, body }: OutgoingResponse): Promise<Error> {
  const text = await shardError(body)
  if (statusCode === 401)
    return unreachable(shard, statusError(502, 'it rejects the credentials of this proxy'))
  const error = statusError(statusCode, text)
  // The token of the shard is none of this proxy.
  return statusCode === 410 ? expired(error.message) : error
}
