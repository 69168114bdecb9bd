import { once } from 'node:events'
import { connect } from 'node:http2'
import { request } from 'node:https'
import { issueAuthority, issueServing, type KeyPair } from '../../cmd/certificates/certificates.ts'

/** Responses and clients of a server under test, over HTTP/1.1 and HTTP/2. */
export interface WireReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** A response whose body the test reads. */
export interface OpenReply extends Omit<WireReply, 'body'> {
  /** The next chunk; undefined after the last. Rejects when the response is truncated. */
  next(): Promise<string | undefined>
  /** Closes the stream without reading on. */
  leave(): void
}

export interface WireRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer
  readonly client?: KeyPair
  /** PEM of the server's certificate authority; default: that of these tests. */
  readonly ca?: string
}

export type Protocol = 'HTTP/1.1' | 'HTTP/2'
export const protocols: readonly Protocol[] = ['HTTP/1.1', 'HTTP/2']

let certificates: { authority: KeyPair; tls: { cert: string; key: string; clientCA: string } } | undefined

/**
 * One certificate authority and one serving certificate for all tests of a process; its client certificates are accepted.
 */
export function testCertificates() {
  if (certificates === undefined) {
    const authority = issueAuthority()
    const { certificate, key } = issueServing(authority, ['127.0.0.1', 'localhost'])
    certificates = { authority, tls: { cert: certificate, key, clientCA: authority.certificate } }
  }
  return certificates
}

/** Sends one request; returns the whole response. */
export async function ask(protocol: Protocol, url: string, wanted: WireRequest = {}): Promise<WireReply> {
  const reply = await open(protocol, url, wanted)
  const pieces: string[] = []
  for (let piece = await reply.next(); piece !== undefined; piece = await reply.next()) pieces.push(piece)
  return { status: reply.status, headers: reply.headers, body: pieces.join('') }
}

/** Sends one request; resolves with the head of the response. */
export function open(protocol: Protocol, url: string, wanted: WireRequest = {}): Promise<OpenReply> {
  return protocol === 'HTTP/2' ? openH2(url, wanted) : openH1(url, wanted)
}

async function tlsOptions({ client, ca }: WireRequest) {
  const { tls } = testCertificates()
  // The address of the connection, for every Host header.
  const servername = ''
  return { servername, ca: ca ?? tls.clientCA, ...(client && { cert: client.certificate, key: client.key }) }
}

async function openH1(url: string, wanted: WireRequest): Promise<OpenReply> {
  const { origin } = new URL(url)
  const { method = 'GET', headers = {}, body } = wanted
  const sent = request(origin, {
    ...(await tlsOptions(wanted)),
    // The path as written: a URL object would normalize it.
    path: url.slice(origin.length),
    method,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, v]) => [name, typeof v === 'string' ? v : [...v]]),
    ),
    agent: false,
  })
  sent.on('error', () => undefined)
  sent.end(body)
  const [response] = await once(sent, 'response')
  return {
    status: response.statusCode,
    headers: response.headers,
    ...reading(response),
    leave: () => sent.destroy(),
  }
}

async function openH2(url: string, wanted: WireRequest): Promise<OpenReply> {
  const { origin } = new URL(url)
  const session = connect(origin, await tlsOptions(wanted))
  await once(session, 'connect')
  session.on('error', () => undefined)
  const { method = 'GET', headers = {}, body } = wanted
  const stream = session.request(
    { ...headers, ':method': method, ':path': url.slice(origin.length) },
    { endStream: body === undefined },
  )
  if (body !== undefined) stream.end(body)
  stream.on('close', () => session.close())
  const [head] = await once(stream, 'response')
  return { status: head[':status'], headers: head, ...reading(stream), leave: () => session.destroy() }
}

function reading(stream: AsyncIterable<Buffer>): Pick<OpenReply, 'next'> {
  const chunks = stream[Symbol.asyncIterator]()
  return {
    next: async () => {
      const { done, value } = await chunks.next()
      return done ? undefined : String(value)
    },
  }
}
