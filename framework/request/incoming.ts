import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { Socket } from 'node:net'
import type { DetailedPeerCertificate, PeerCertificate, TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { Turns } from '../async/awaitable.ts'
import { badRequest, type StatusError, serviceUnavailable, tooLarge } from '../meta/errors.ts'
import type { Credentials } from './authenticator.ts'
import type { ParseYaml, VerbRequest } from './response.ts'

/** A received request. Later steps do not read Node's request. */
export interface Incoming extends VerbRequest {
  /** Without the query, still percent-encoded. */
  readonly path: string
  /** The raw query with its `?`; '' without a query. */
  readonly search: string
  /** For authentication only: `headers` has no credentials and no impersonation headers. */
  readonly credentials: Credentials
  /** Whether the client certificate was issued by an unknown authority. */
  readonly badCertificate: boolean
  readonly impersonates: boolean
  readonly auditId: string
  /** The number of servers that forwarded the request, at most `mostHops`. */
  readonly hops: number
}

export type HttpRequest = IncomingMessage | Http2ServerRequest

/** The options for reading requests. */
export interface Reading {
  /** Further identity headers, in lower case, which are removed from `headers`. */
  readonly isIdentityHeader?: IsIdentity
  /** Limits the bodies that are decoded in one turn of the event loop; absent: no limit. */
  readonly turns?: Turns
  /** Parses YAML in the turn of an account. */
  readonly yaml?: (text: string, account: string) => ReturnType<ParseYaml>
}

/**
 * `measured.works` is called when the body has arrived. `account`: the name under which the request is counted, '' before
 * authentication.
 */
export function readRequest(
  request: HttpRequest,
  { isIdentityHeader: isIdentity = nothing, turns, yaml }: Reading,
  measured?: { works(): void },
  account = () => '',
): Incoming {
  const { method = 'GET' } = request
  const url = originForm(request.url)
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
    body: bodyOf(request, turns, measured),
    yaml: yaml && (text => yaml(text, account())),
  }
}

/** The path and the query of a request target, which may have a scheme and an authority before them (RFC 9112, section 3.2.2). */
function originForm(target = '/'): string {
  if (target.startsWith('/')) return target
  const rest = target.replace(/^https?:\/\/[^/?]*/i, '')
  return rest === '' || rest.startsWith('?') ? `/${rest}` : rest
}

/** Shared, because queries are never modified. */
const noQuery = new URLSearchParams()
/** Clients send the same queries again and again. */
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

/** The parts of a request that depend on headers and connection only. */
interface Head
  extends Pick<Incoming, 'headers' | 'credentials' | 'badCertificate' | 'impersonates' | 'hops'> {
  readonly sentAuditId: string | undefined
}

interface LastHead {
  readonly rawHeaders: readonly string[]
  /** Whether each name is there once. */
  readonly isDistinct: boolean
  readonly isIdentity: IsIdentity
  readonly head: Head
}

/** Cached per connection, because most requests of a connection have the same headers as the one before. */
function headOf(request: HttpRequest, isIdentity: IsIdentity): Head {
  const peer = peerOf(request)
  const { rawHeaders } = request
  const { last } = peer
  if (last !== undefined && last.isIdentity === isIdentity && hasHeadersOf(last, request)) return last.head
  const head = readHead(request, peer, isIdentity)
  const isDistinct = Object.keys(request.headers).length * 2 === rawHeaders.length
  peer.last = { rawHeaders, isDistinct, isIdentity, head }
  return head
}

const hasHeadersOf = ({ rawHeaders, isDistinct }: LastHead, request: HttpRequest): boolean =>
  rawHeaders.length === request.rawHeaders.length &&
  ('stream' in request
    ? isDistinct && hasAll(request.headers, rawHeaders)
    : rawHeaders.every((text, i) => text === request.rawHeaders[i]))

/** Clients in Go send the headers of HTTP/2 in a random order. As many headers as distinct names have no others. */
function hasAll(headers: IncomingHttpHeaders, expected: readonly string[]): boolean {
  for (let i = 0; i < expected.length; i += 2) {
    const sent = headers[expected[i] ?? '']
    if (sent === undefined || (sent !== expected[i + 1] && !isOfUrl(expected[i]))) return false
  }
  return true
}

/** HTTP/2 has the method and the path among the headers: they are read from the request. */
const isOfUrl = (name: string | undefined): boolean => name === ':path' || name === ':method'

function readHead(
  { headers, rawHeaders }: HttpRequest,
  { certificate, source, isBad }: Peer,
  isIdentity: IsIdentity,
): Head {
  const sent = { headers, rawHeaders, source }
  return {
    headers: withoutIdentity(headers, isIdentity),
    credentials: certificate === undefined ? sent : { ...sent, certificate },
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

/** Returns the same object for requests without identity headers, such as most with a client certificate. */
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

/** The client's audit ID (rules.md 1.47); undefined if absent, or if it has characters that must not be logged. */
function sentAuditId(headers: IncomingHttpHeaders): string | undefined {
  const sent = headers['audit-id']
  return typeof sent === 'string' && /^[\x21-\x7e]{1,64}$/.test(sent) ? sent : undefined
}

/** The number of forwards after which a request is taken to go in a circle. */
export const mostHops = 4

/** Throws 503 for a request that mounts have forwarded so often. */
export function refuseLoop({ hops }: Pick<Incoming, 'hops'>): void {
  if (hops >= mostHops) throw serviceUnavailable('Not available: mounts lead in a circle.')
}

function hopsOf(headers: IncomingHttpHeaders): number {
  const sent = headers['x-kcp-virtual-resource-hops']
  if (sent === undefined) return 0
  return /^\d{1,9}$/.test(String(sent)) ? Math.min(Number(sent), mostHops) : mostHops
}

interface Peer {
  readonly certificate?: PeerCertificate
  readonly source: string
  readonly isBad: boolean
  /** Of the last request of the connection. */
  last?: LastHead
}

const peers = new WeakMap<object, Peer>()

/** Cached per connection, because parsing a certificate takes longer than a small request. */
function peerOf(request: HttpRequest): Peer {
  const connection = 'stream' in request ? request.stream.session : request.socket
  if (connection === undefined) return { source: '', isBad: false }
  const known = peers.get(connection)
  if (known !== undefined) return known
  const peer = readPeer(request.socket)
  peers.set(connection, peer)
  return peer
}

function readPeer(socket: Socket | TLSSocket): Peer {
  const source = sourceOf(socket.remoteAddress)
  if (!('getPeerCertificate' in socket)) return { source, isBad: false }
  const certificate: Partial<DetailedPeerCertificate> = socket.getPeerCertificate(true)
  if (certificate.raw === undefined) return { source, isBad: false }
  return socket.authorized
    ? { certificate: certificate as PeerCertificate, source, isBad: false }
    : { source, isBad: true }
}

/** An IPv4 address, or the first 64 bits of an IPv6 address. */
export function sourceOf(address = ''): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const groups = head === '' ? [] : head.split(':')
  const behind = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : 8 - groups.length - behind.length
  return [...groups, ...Array(Math.max(0, zeros)).fill('0'), ...behind].slice(0, 4).join(':')
}

function bodyOf(
  request: HttpRequest,
  turns: Turns | undefined,
  measured: { works(): void } | undefined,
): VerbRequest['body'] {
  let body: Promise<Buffer> | undefined
  const read = async (limit: number): Promise<Buffer> => {
    const bytes = await readBody(request, limit)
    await turns?.of(bytes)
    measured?.works()
    return bytes
  }
  return limit => {
    body ??= read(limit)
    return body
  }
}

async function readBody(request: HttpRequest, limit: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limit) throw tooLarge(`limit is ${limit}`)
  const chunks: Buffer[] = []
  let [size, count] = [0, 0]
  // Not `for await`: leaving it early would destroy the connection before the response.
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      count++
      if (size > limit) reject(tooLarge(`limit is ${limit}`))
      else if (count > mostChunks) reject(tooLarge(`limit of a body is ${mostChunks} chunks`))
      // A small chunk would keep all that was read with it.
      else chunks.push(chunk.length < smallChunk ? Buffer.from(chunk) : chunk)
      // The response is sent while as many chunks arrive again.
      if (count > 2 * mostChunks) streamOf(request).destroy()
    })
    request.on('end', () => (isCanceled(request) ? reject(bodyCutOff()) : resolve()))
    const cutOff = (): void => {
      if (!request.readableEnded) reject(bodyCutOff())
    }
    request.on('error', cutOff)
    request.on('close', cutOff)
  })
  return Buffer.concat(chunks)
}

export const bodyCutOff = (): StatusError => badRequest('the body of the request was cut off')

/** Whether the stream of the request was reset before its response. Its body ends then as if it were complete. */
export const isCanceled = (request: HttpRequest): boolean => 'stream' in request && request.stream.aborted

/** In HTTP/2 a request is one stream of its connection. */
export const streamOf = (request: HttpRequest): { destroy(): unknown } =>
  'stream' in request ? request.stream : request

/** Chunks of a body: those of clients have several kilobytes, and reading one byte in each takes seconds and hundreds of megabytes. */
export const mostChunks = 10_000
/** Bytes. */
const smallChunk = 4 * 1024
