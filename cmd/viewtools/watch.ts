import { Backoff } from '../../framework/async/backoff.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { jsonIn } from '../../framework/net/bodies.ts'
import { createClient, type HttpClient } from '../../framework/net/client.ts'
import { problemOf } from '../../framework/net/failure.ts'
import { fetchText } from '../../framework/net/fetch.ts'
import { authorizationOf, tlsOf } from '../../framework/net/serveraccess.ts'
import { StartError } from '../files/starterror.ts'
import { lineText, print, printError } from '../files/terminaltext.ts'
import { type ConnectionFlags, connectionOf } from '../flags/connection.ts'
import { Changes } from './changes.ts'

/** `oriel watch`: prints until the process ends. Throws `StartError` when the URL cannot be listed. */
export async function printChanges(url: string, options: ConnectionFlags): Promise<void> {
  const access = await connectionOf(options)
  const target = targetOf(url, access.server)
  const client = createClient({ tls: tlsOf(access), headers: { ...authorizationOf(access) } })
  const watched = new WatchedUrl(client, target)
  const changes = new Changes()
  const backoff = new Backoff(pauses)
  const forever = new AbortController().signal
  printLines(changes.list(await watched.list()))
  for (;;) {
    const problem = await watched.follow((type, object) => {
      backoff.reset()
      printLines(changes.event(type, object))
    })
    if (problem !== undefined) printError(`# ${problem}`)
    await backoff.pause(forever)
    if (watched.isExpired) printLines(await watched.list().then(items => changes.list(items), reported))
  }
}

const pauses = { first: 100, longest: 10_000 }

const printLines = (lines: readonly string[]): void =>
  print(lines.map(line => `${lineText(line)}\n`).join(''))

/** A list that fails later is tried again. */
function reported(error: Error): readonly string[] {
  printError(`# ${error.message}`)
  return []
}

/** The absolute URL; paths are those of the server in the kubeconfig. Throws `StartError`. */
function targetOf(url: string, server: string): URL {
  try {
    const target = new URL(url, new URL(server).origin)
    if (target.protocol === 'https:' || target.protocol === 'http:') return target
  } catch {}
  throw new StartError(
    `${JSON.stringify(url)} is not a URL: give one such as https://localhost:6443/services/team/ops/clusters/*/api/v1/configmaps, or its path.`,
  )
}

const limits = { timeout: 60_000, bytes: 256 * 1024 * 1024 }

interface ListBody {
  readonly items?: readonly KubeObject[]
  readonly metadata?: { readonly resourceVersion?: string }
  readonly message?: string
}

interface EventBody {
  readonly type: string
  readonly object: KubeObject & { readonly code?: number; readonly message?: string }
}

/** The list and the watch of one URL. */
class WatchedUrl {
  readonly #client: HttpClient
  readonly #url: URL
  #resourceVersion = ''
  /** The watch cannot be continued: list again. */
  isExpired = false

  constructor(client: HttpClient, url: URL) {
    this.#client = client
    this.#url = url
  }

  /** The objects. Rejects with a `StartError`. */
  async list(): Promise<readonly KubeObject[]> {
    const failed = (why: string) => new StartError(`Listing ${this.#url.href} failed: ${why}.`)
    const { origin } = this.#url
    const request = { origin, path: this.#path({}), headers: { accept: 'application/json' } }
    const { status, text } = await fetchText(this.#client, request, limits).catch(error => {
      throw failed(problemOf(error, '').reason)
    })
    const body = jsonIn(text) as ListBody | undefined
    if (status !== 200) throw failed(body?.message ?? `the server responded with status ${status}`)
    if (body?.items === undefined) throw failed('the response is not a list')
    this.#resourceVersion = body.metadata?.resourceVersion ?? ''
    this.isExpired = false
    return body.items.map(item => item)
  }

  /** Calls `seen` with the events until the watch ends. Returns why, if it did not end as usual. */
  async follow(seen: (type: string, object: KubeObject) => void): Promise<string | undefined> {
    try {
      for await (const { type, object } of this.#events()) {
        if (type === 'ERROR') return this.#ended(object.code ?? 0, object.message ?? '')
        this.#resourceVersion = object.metadata.resourceVersion ?? this.#resourceVersion
        seen(type, object)
      }
      return undefined
    } catch (error) {
      return error instanceof StartError ? error.message : problemOf(error, '').reason
    }
  }

  #ended(code: number, message: string): string {
    this.isExpired ||= code === 410
    return `the watch ended (${code}): ${message}`
  }

  async *#events(): AsyncGenerator<EventBody> {
    const watch = { watch: '1', allowWatchBookmarks: 'true', resourceVersion: this.#resourceVersion }
    const { signal } = new AbortController()
    const { origin } = this.#url
    const { statusCode, body } = await this.#client.request({ origin, path: this.#path(watch), signal })
    if (statusCode !== 200) {
      const { message = '' } = (jsonIn(await body.text()) ?? {}) as ListBody
      throw new StartError(this.#ended(statusCode, message))
    }
    yield* eventsIn(body)
  }

  #path(more: Readonly<Record<string, string>>): string {
    const query = new URLSearchParams(this.#url.search)
    for (const [name, value] of Object.entries(more)) query.set(name, value)
    return `${this.#url.pathname}${query.size === 0 ? '' : `?${query}`}`
  }
}

/** The events of a watch, one in each line. */
async function* eventsIn(body: AsyncIterable<Buffer>): AsyncGenerator<EventBody> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield JSON.parse(line) as EventBody
  }
}
