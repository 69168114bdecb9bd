import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import { Readers } from '../async/awaitable.ts'
import type { Lifetime } from '../async/lifetime.ts'
import type { Logger } from '../contract/log.ts'
import { closing } from '../net/failure.ts'
import type { Answer } from '../request/response.ts'

/** Headers of one connection: not forwarded, and forbidden in HTTP/2. */
const connectionHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'trailer',
  'te',
  'http2-settings',
])

/** A response to send; `sent` is called with each chunk, or with the length of the whole body. */
export interface Reply {
  readonly answer: Answer
  /** Common headers; those of the answer take precedence. */
  readonly headers: OutgoingHttpHeaders
  readonly isHead: boolean
  readonly sent?: { sent(chunk: Buffer): void; sentWhole(bytes: number): void }
  /** Milliseconds in which the client of a list must read what was sent; default 15,000. */
  readonly readTimeout?: number
  /** Shared by all responses of a server: the lists of all clients are written in turns. */
  readonly slices?: Readers
}

const defaultReadTimeout = 15_000

/** The bytes of a list that are written without a turn of other requests. */
const slice = 128 * 1024

/** The slices of all lists that are written in one turn of the event loop. */
const slicesInTurn = 2

export const createSlices = (): Readers => new Readers({ atOnce: slicesInTurn, slice: 0 })

/**
 * Writes a response with back-pressure. Resolves when all is written or the client disconnects. Throws if a stream fails
 * before its first chunk, so that an error can be sent; a stream that fails later is cut off, so that clients notice the
 * incomplete response.
 */
export function respond(response: ServerResponse, reply: Reply, lifetime: Lifetime): void | Promise<void> {
  const { body } = reply.answer
  if (isGone(response)) return abandon(body)
  if (Buffer.isBuffer(body)) return writeBytes(response, reply, body, lifetime)
  if (reply.isHead) return abandon(body).then(() => writeHeadOnly(response, reply))
  return writeStream(response, reply, lifetime)
}

/** Whether nobody reads the response. In HTTP/2 the response of Node does not tell. */
const isGone = (response: ServerResponse | Http2ServerResponse): boolean =>
  'stream' in response ? response.stream.destroyed : response.destroyed

/** The common headers, which are modified, with those of the answer. */
function headersOf({ answer, headers }: Reply): OutgoingHttpHeaders {
  const all = headers
  if (answer.contentType !== '') all['content-type'] = answer.contentType
  for (const name in answer.headers) {
    const lower = name.toLowerCase()
    const value = answer.headers[name] ?? ''
    if (!connectionHeaders.has(lower)) all[lower] = typeof value === 'string' ? value : [...value]
  }
  return all
}

/** HTTP/2: by the stream, because the response of Node waits for trailers, which takes one more frame and two callbacks. */
function writeHead(
  response: ServerResponse | Http2ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
): void {
  if (!('stream' in response)) return void response.writeHead(status, headers)
  const { stream } = response
  response.statusCode = status
  if (!stream.destroyed && !stream.closed)
    stream.respond({ ...response.getHeaders(), ...headers, ':status': status })
}

/** A large body is sent as the client reads it: TLS would keep an encrypted copy of what is written for each client. */
function writeBytes(
  response: ServerResponse,
  reply: Reply,
  body: Buffer,
  lifetime: Lifetime,
): void | Promise<void> {
  if (body.length <= mostWaiting || reply.isHead) return writeWhole(response, reply, body)
  const headers = { ...reply.answer.headers, 'Content-Length': String(body.length) }
  const untilRead = () => readOn(response, reply, lifetime)
  const answer = { ...reply.answer, headers, body: piecesOf(body, response, untilRead) }
  return writeStream(response, { ...reply, answer }, lifetime)
}

/** The last byte is sent when the client has read the others (see `endWith`). */
async function* piecesOf(
  body: Buffer,
  response: ServerResponse,
  untilRead: () => Promise<void>,
): AsyncGenerator<Buffer, void> {
  const last = body.length - 1
  for (let at = 0; at < last; at += slice) yield body.subarray(at, Math.min(at + slice, last))
  if (response.writableLength > response.writableHighWaterMark) await untilRead()
  yield body.subarray(last)
}

function writeWhole(response: ServerResponse, reply: Reply, body: Buffer): void {
  const hasBody = reply.answer.status !== 304 && reply.answer.status !== 204
  const headers = headersOf(reply)
  if (hasBody) headers['content-length'] = body.length
  writeHead(response, reply.answer.status, headers)
  if (!hasBody || reply.isHead) return void response.end()
  reply.sent?.sentWhole(body.length)
  endWith(response, body)
}

/**
 * Over HTTP/1.1 the end of a large body waits until the rest is sent. If the next request comes while much is waiting,
 * Node pauses the connection, and its parser then fails on the body of that request.
 */
function endWith(response: ServerResponse, body: Buffer): void {
  if ('stream' in response || body.length < response.writableHighWaterMark) response.end(body)
  else response.write(body.subarray(0, -1), () => response.end(body.subarray(-1)))
}

function writeHeadOnly(response: ServerResponse, reply: Reply): void {
  writeHead(response, reply.answer.status, headersOf(reply))
  response.end()
}

async function writeStream(response: ServerResponse, reply: Reply, lifetime: Lifetime): Promise<void> {
  const chunks = chunksOf(reply.answer.body)
  // The request's signal ends a generator that waits for its source; `return` ends one that is suspended at a `yield`.
  const leave = (): void => void chunks.return?.().then(undefined, ignore)
  lifetime.onEnd(leave)
  try {
    if (reply.answer.flush) begin(response, reply)
    else await reply.slices?.enter()
    const early = await firstOf(chunks)
    if (!response.headersSent && !response.destroyed) begin(response, reply)
    await pump(response, { ...reply, chunks, early }, lifetime)
    finish(response, reply, lifetime)
  } catch (error) {
    if (!response.headersSent) throw error
    if (endsWell(reply, lifetime)) response.end()
    else cutOff(response)
  } finally {
    leave()
  }
}

/** In a list, from which it is taken out: the function that waits for the end of the response would keep it until then. */
const firstOf = async (chunks: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer>[]> => [
  await chunks.next(),
]

function begin(response: ServerResponse, reply: Reply): void {
  writeHead(response, reply.answer.status, headersOf(reply))
  // The head of a list is sent with its first chunk, in one write.
  if (reply.answer.flush) response.flushHeaders()
}

interface Pumping extends Reply {
  readonly chunks: AsyncIterator<Buffer>
  readonly early: IteratorResult<Buffer>[]
}

/** The largest number of unsent bytes of a list: fast clients then never wait for the next chunk. */
const mostWaiting = 256 * 1024

async function pump(response: ServerResponse, from: Pumping, lifetime: Lifetime): Promise<void> {
  const sending = new Sending(response, from, lifetime)
  let next = from.early.shift() ?? (await from.chunks.next())
  while (!next.done && sending.goesOn) {
    const wait = sending.send(next.value)
    if (wait !== undefined) await wait
    from.sent?.sent(next.value)
    if (lifetime.ended === undefined) next = await from.chunks.next()
  }
}

/** Not in the function that waits for all chunks: its variables would keep earlier ones of a slow client. */
class Sending {
  readonly #response: ServerResponse
  readonly #reply: Reply
  readonly #lifetime: Lifetime
  readonly #most: number
  readonly #slices: Readers
  /** Bytes since the last turn of other requests. */
  #written = 0

  constructor(response: ServerResponse, reply: Reply, lifetime: Lifetime) {
    this.#response = response
    this.#reply = reply
    this.#lifetime = lifetime
    // Thousands of watch clients may be slow or stopped, so their buffers are kept small.
    this.#most = reply.answer.flush ? 0 : mostWaiting
    this.#slices = reply.slices ?? createSlices()
  }

  get goesOn(): boolean {
    return this.#lifetime.ended === undefined && !this.#response.destroyed
  }

  send(chunk: Buffer): void | Promise<void> {
    if (chunk.length > mostWaiting) return this.#parts(chunk)
    const taken = this.#response.write(chunk)
    this.#written += chunk.length
    const isFull = !taken && this.#response.writableLength > this.#most
    if (isFull || this.#written >= slice) return this.#wait(isFull)
  }

  /**
   * A batch has the length of the largest object at least: TLS would keep an encrypted copy of what is written. The event
   * of a watch that ends well is sent to its end.
   */
  async #parts(chunk: Buffer): Promise<void> {
    const goesOn = () => this.goesOn || (endsWell(this.#reply, this.#lifetime) && !this.#response.destroyed)
    for (let at = 0; at < chunk.length && goesOn(); at += slice)
      await this.send(chunk.subarray(at, at + slice))
  }

  async #wait(isFull: boolean): Promise<void> {
    if (isFull) await readOn(this.#response, this.#reply, this.#lifetime)
    if (this.#written < slice) return
    await this.#slices.enter()
    this.#written = 0
  }
}

function finish(response: ServerResponse, reply: Reply, lifetime: Lifetime): void {
  if (lifetime.ended !== undefined && !endsWell(reply, lifetime)) cutOff(response)
  else response.end()
}

/** Whether what was sent is complete: the events of a watch are, and a part of a list or document is not. */
const endsWell = ({ answer }: Reply, lifetime: Lifetime): boolean =>
  answer.flush === true && lifetime.endsWell()

const incomplete = closing('the answer was cut off')

/** HTTP/2 needs an error, from which Node makes the error code of a broken stream. */
function cutOff(response: ServerResponse): void {
  if ('stream' in response) response.destroy(incomplete)
  else response.destroy()
}

/** Neither the answer nor that for its error could be sent: one request must not end the process. */
export function giveUp(response: ServerResponse, log: Logger, failure: unknown): void {
  log.error({ error: String(failure) }, 'the response cannot be sent')
  cutOff(response)
}

/** Waits, without a seat, until the client has read. Ends the request if the client of a list does not read. */
async function readOn(
  response: ServerResponse,
  { answer, readTimeout }: Reply,
  lifetime: Lifetime,
): Promise<void> {
  const stalled = (): void => lifetime.end('client stalled')
  const timer = answer.flush ? undefined : setTimeout(stalled, readTimeout ?? defaultReadTimeout)
  // A watch keeps its seat while its client reads slowly.
  if (!answer.flush) lifetime.holding?.pause()
  await drained(response, lifetime)
  clearTimeout(timer)
  await lifetime.holding?.resume()
}

/** Resolves when the socket accepts more, or is closed. */
function drained(response: ServerResponse, { signal }: Lifetime): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      response.off('drain', done)
      response.off('close', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
    signal.addEventListener('abort', done)
  })
}

const ignore = (): undefined => undefined

const chunksOf = (body: Answer['body']): AsyncIterator<Buffer> =>
  (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]()

/** Ends the source of an unread body. */
async function abandon(body: Answer['body']): Promise<void> {
  if (!Buffer.isBuffer(body)) await chunksOf(body).return?.()
}
