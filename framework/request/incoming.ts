import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { Socket } from 'node:net'
import type { DetailedPeerCertificate, PeerCertificate, TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { Turns } from '../async/awaitable.ts'
import { badRequest, tooLarge } from '../meta/errors.ts'
import type { Credentials } from './authenticator.ts'
import type { VerbRequest } from './response.ts'

/** A request as it came, read once. Nothing looks at the socket's request after this. */
export interface Incoming extends VerbRequest {
  /** Without the query, still percent-encoded. */
  readonly path: string
  /** The query as it came, with its `?`; '' when there is none. */
  readonly search: string
  /** For authentication only: `headers` have no credentials and no asserted identity any more. */
  readonly credentials: Credentials
  /** A client certificate was presented that no configured authority has issued. */
  readonly badCertificate: boolean
  readonly impersonates: boolean
  readonly auditId: string
  /** Forwards so far; 4 is too many (chapter 10, section 1.13). */
  readonly hops: number
}

export type HttpRequest = IncomingMessage | Http2ServerRequest

/** What a server reads its requests with. */
export interface Reading {
  /** Headers, in lower case, that carry identities besides Kubernetes' own: nothing behind sees them. */
  readonly isIdentityHeader?: IsIdentity
  /** Absent: bodies are worked at as they come. */
  readonly turns?: Turns
}

export function readRequest(
  request: HttpRequest,
  { isIdentityHeader: isIdentity = nothing, turns }: Reading,
): Incoming {
  const { method = 'GET', url = '/' } = request
  const question = url.indexOf('?')
  const search = question < 0 ? '' : url.slice(question)
  const { headers, credentials, badCertificate, impersonates, sentAuditId, hops } = headOf(
    request,
    isIdentity,
  )
  return {
    method,
    path: question < 0 ? url : url.slice(0, question),
    search,
    query: queryOf(search),
    headers,
    credentials,
    badCertificate,
    impersonates,
    auditId: sentAuditId ?? randomUUID(),
    hops,
    body: bodyOf(request, turns),
  }
}

/** Nobody writes to a request's query. */
const noQuery = new URLSearchParams()
/** Clients send few different ones, again and again. */
const queries = new LRUCache<string, URLSearchParams>({ max: 500 })
const longestKept = 256

function queryOf(search: string): URLSearchParams {
  if (search === '') return noQuery
  const known = queries.get(search)
  if (known !== undefined) return known
  const query = new URLSearchParams(search.slice(1))
  if (search.length <= longestKept) queries.set(search, query)
  return query
}

/** What headers and connection say. */
interface Head
  extends Pick<Incoming, 'headers' | 'credentials' | 'badCertificate' | 'impersonates' | 'hops'> {
  readonly sentAuditId: string | undefined
}

/** Most requests on a connection have the very headers of the one before: then they are not read again. */
function headOf(request: HttpRequest, isIdentity: IsIdentity): Head {
  const peer = peerOf(request)
  const { rawHeaders } = request
  const { last } = peer
  if (last !== undefined && last.isIdentity === isIdentity && areEqual(last.rawHeaders, rawHeaders))
    return last.head
  const head = readHead(request, peer, isIdentity)
  peer.last = { rawHeaders, isIdentity, head }
  return head
}

function areEqual(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false
  for (let i = 0; i < some.length; i++) if (some[i] !== others[i]) return false
  return true
}

function readHead(
  { headers, rawHeaders }: HttpRequest,
  { certificate, isBad }: Peer,
  isIdentity: IsIdentity,
): Head {
  return {
    headers: withoutIdentity(headers, isIdentity),
    credentials: certificate === undefined ? { headers, rawHeaders } : { headers, rawHeaders, certificate },
    badCertificate: isBad,
    impersonates: impersonates(headers),
    sentAuditId: sentAuditId(headers),
    hops: hopsOf(headers),
  }
}

export type IsIdentity = (name: string) => boolean

const nothing: IsIdentity = () => false

const isKnownIdentity: IsIdentity = name =>
  name.startsWith(':') ||
  name === 'authorization' ||
  name.startsWith('x-remote-') ||
  name.startsWith('impersonate-')

/** Most requests with a client certificate have nothing to take out, and keep the object they came with. */
function withoutIdentity(headers: IncomingHttpHeaders, isOther: IsIdentity): IncomingHttpHeaders {
  const names = Object.keys(headers)
  const isIdentity: IsIdentity = name => isKnownIdentity(name) || isOther(name)
  if (!names.some(isIdentity)) return headers
  const kept: IncomingHttpHeaders = {}
  for (const name of names) if (!isIdentity(name)) kept[name] = headers[name]
  return kept
}

function impersonates(headers: IncomingHttpHeaders): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true
  return false
}

/** The client's own id if it is one that may be echoed and logged, else a new one (chapter 40, rule 1.47). */
function sentAuditId(headers: IncomingHttpHeaders): string | undefined {
  const sent = headers['audit-id']
  return typeof sent === 'string' && /^[\x21-\x7e]{1,64}$/.test(sent) ? sent : undefined
}

const mostHops = 4

function hopsOf(headers: IncomingHttpHeaders): number {
  const sent = headers['x-kcp-virtual-resource-hops']
  if (sent === undefined) return 0
  return /^\d{1,9}$/.test(String(sent)) ? Math.min(Number(sent), mostHops) : mostHops
}

interface Peer {
  readonly certificate?: PeerCertificate
  readonly isBad: boolean
  /** What the last request on the connection said. */
  last?: { readonly rawHeaders: readonly string[]; readonly isIdentity: IsIdentity; readonly head: Head }
}

const peers = new WeakMap<object, Peer>()

/** Made once per connection, because taking a certificate apart costs more than a small request. */
function peerOf(request: HttpRequest): Peer {
  const connection = 'stream' in request ? request.stream.session : request.socket
  if (connection === undefined) return { isBad: false }
  let peer = peers.get(connection)
  if (peer === undefined) {
    peer = readPeer(request.socket)
    peers.set(connection, peer)
  }
  return peer
}

function readPeer(socket: Socket | TLSSocket): Peer {
  if (!('getPeerCertificate' in socket)) return { isBad: false }
  const certificate: Partial<DetailedPeerCertificate> = socket.getPeerCertificate(true)
  if (certificate.raw === undefined) return { isBad: false }
  return socket.authorized ? { certificate: certificate as PeerCertificate, isBad: false } : { isBad: true }
}

function bodyOf(request: HttpRequest, turns: Turns | undefined): VerbRequest['body'] {
  let body: Promise<Buffer> | undefined
  return limit => {
    body ??= inTurn(readBody(request, limit), turns)
    return body
  }
}

async function inTurn(body: Promise<Buffer>, turns: Turns | undefined): Promise<Buffer> {
  const bytes = await body
  return turns === undefined ? bytes : turns.of(bytes)
}

async function readBody(request: HttpRequest, limit: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limit) throw tooLarge(`limit is ${limit}`)
  const chunks: Buffer[] = []
  let size = 0
  // Not `for await`: leaving it early would destroy the connection under the answer.
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else reject(tooLarge(`limit is ${limit}`))
    })
    request.on('end', resolve)
    request.on('error', () => reject(badRequest('the body of the request was cut off')))
    request.on('close', () => reject(badRequest('the body of the request was cut off')))
  })
  return Buffer.concat(chunks)
}
