import { once } from 'node:events'
import { connect } from 'node:http2'
import { request } from 'node:https'
import { issueAuthority, issueServing, type KeyPair } from '../../cmd/certificates/certificates.ts'

/** Answers and clients of a server under test, over HTTP/1.1 and HTTP/2 alike. */
export interface WireReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** An answer whose body is read by hand. */
export interface OpenReply extends Omit<WireReply, 'body'> {
  /** The next piece; undefined after the last. Rejects when the answer is cut off. */
  next(): Promise<string | undefined>
  /** Leaves without reading on. */
  leave(): void
}

export interface WireRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer
  readonly client?: KeyPair
  /** PEM: what the server is verified by; the authority of these tests by default. */
  readonly ca?: string
}

export type Protocol = 'HTTP/1.1' | 'HTTP/2'
export const protocols: readonly Protocol[] = ['HTTP/1.1', 'HTTP/2']

let certificates: { authority: KeyPair; tls: { cert: string; key: string; clientCA: string } } | undefined

/** One authority and one serving certificate for all tests of a process; clients of the authority are believed. */
export function testCertificates() {
  if (certificates === undefined) {
    const authority = issueAuthority()
    const { certificate, key } = issueServing(authority, ['127.0.0.1', 'localhost'])
    certificates = { authority, tls: { cert: certificate, key, clientCA: authority.certificate } }
  }
  return certificates
}

/** One request, the whole answer. */
export async function ask(protocol: Protocol, url: string, wanted: WireRequest = {}): Promise<WireReply> {
  const reply = await open(protocol, url, wanted)
  const pieces: string[] = []
  for (let piece = await reply.next(); piece !== undefined; piece = await reply.next()) pieces.push(piece)
  return { status: reply.status, headers: reply.headers, body: pieces.join('') }
}

/** One request; resolves with the head of the answer. */
export function open(protocol: Protocol, url: string, wanted: WireRequest = {}): Promise<OpenReply> {
  return protocol === 'HTTP/2' ? openH2(url, wanted) : openH1(url, wanted)
}

async function tlsOptions({ client, ca }: WireRequest) {
  const { tls } = testCertificates()
  // The address that is connected to, whatever the Host header says.
  const servername = ''
  return { servername, ca: ca ?? tls.clientCA, ...(client && { cert: client.certificate, key: client.key }) }
}

async function openH1(url: string, wanted: WireRequest): Promise<OpenReply> {
  const { origin } = new URL(url)
  const { method = 'GET', headers = {}, body } = wanted
  const sent = request(origin, {
    ...(await tlsOptions(wanted)),
    // The path as written: a URL object would tidy it up.
    path: url.slice(origin.length),
    method,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, v]) => [name, typeof v === 'string' ? v : [...v]]),
    ),
    agent: false,
  })
  sent.end(body)
  const [response] = await once(sent, 'response')
  sent.on('error', () => undefined)
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
