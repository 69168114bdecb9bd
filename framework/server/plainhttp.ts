import { IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { attempt } from '../async/awaitable.ts'
import type { RequestContext } from '../contract/context.ts'
import type { Forwarding } from '../contract/upstream.ts'
import type { VirtualWorkspace } from '../contract/workspace.ts'
import type { HttpRequest, Incoming } from '../request/incoming.ts'

type HttpMember = Required<VirtualWorkspace>['http']

/** A request for the member `http` of a view: without credentials and identity headers, and with the path below the logical cluster. */
class PlainRequest extends IncomingMessage {
  readonly #source: HttpRequest
  #isReading = false

  constructor(source: HttpRequest, { method, headers }: Incoming, url: string) {
    super(source.socket as Socket)
    this.#source = source
    this.method = method
    this.url = url
    this.httpVersion = source.httpVersion
    this.headers = { ...headers }
    this.rawHeaders = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? ''].flat().flatMap(each => [name, each]),
    )
  }

  override _read(): void {
    if (!this.#isReading) this.#begin()
    this.#source.resume()
  }

  #begin(): void {
    this.#isReading = true
    this.#source.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) this.#source.pause()
    })
    this.#source.once('end', () => this.push(null))
    this.#source.once('error', error => this.destroy(error))
  }

  /** The connection belongs to the server. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error)
  }
}

/** The response of the member `http` of a view. Rejects as long as nothing was sent; later the connection is closed. */
export const plainAnswer = (
  http: HttpMember,
  ctx: RequestContext,
  incoming: Incoming,
  path: string,
): Forwarding => ({
  forward: ({ request, response, lifetime }) =>
    new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        if (response.headersSent) response.destroy()
        else reject(error)
      }
      response.once('close', resolve)
      lifetime.onEnd(fail)
      setCommonHeaders(response, incoming)
      const plain = new PlainRequest(request, incoming, path + incoming.search)
      attempt(async () => http(ctx, plain, response), fail)
    }),
})

function setCommonHeaders(response: ServerResponse, { auditId }: Incoming): void {
  response.setHeader('audit-id', auditId)
  response.setHeader('cache-control', 'no-cache, private')
  response.setHeader('x-content-type-options', 'nosniff')
}
