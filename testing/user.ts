import type { BearerTokenReader } from '../framework/authn/token.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import type { UserInfo } from '../framework/request/user.ts'

const authenticated = 'system:authenticated'

/** The token of a user of tests: who has it is that user. */
export const tokenOf = (user: UserInfo): string => Buffer.from(JSON.stringify(user)).toString('base64url')

export const userOfToken: BearerTokenReader = token => ({
  user: JSON.parse(Buffer.from(token, 'base64url').toString()) as UserInfo,
})

/** A request. An object as the body is sent as JSON. */
export interface TestRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
}

/** A response. */
export interface TestReply {
  readonly status: number
  readonly text: string
  /** The body as an object or a Status; undefined if it is not JSON. */
  readonly object:
    | (KubeObject & { readonly items?: readonly KubeObject[]; readonly message?: string })
    | undefined
  /** The header `Warning`; empty without warnings. */
  readonly warning: string
}

/** An event of a watch. */
export interface WatchedEvent {
  readonly type: string
  readonly object: KubeObject
}

const patches: Readonly<Record<string, string>> = { PATCH: 'application/merge-patch+json' }

/** The client of one user. Paths begin with `/services/` or `/clusters/`. */
export class TestUser {
  readonly #url: string
  readonly #token: string

  constructor(url: string, { groups, ...user }: UserInfo) {
    this.#url = url
    this.#token = tokenOf({ ...user, groups: [...new Set([...groups, authenticated])] })
  }

  /** Sends a request: GET without a method. */
  async request(path: string, { method = 'GET', headers = {}, body }: TestRequest = {}): Promise<TestReply> {
    const response = await this.#fetch(path, {
      method,
      headers: { 'content-type': patches[method] ?? 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    const warning = response.headers.get('warning') ?? ''
    return { status: response.status, text, object: isJson ? JSON.parse(text) : undefined, warning }
  }

  /** The objects of a list. Throws an `Error` with the message of the Status if the list is refused. */
  async list(path: string): Promise<readonly KubeObject[]> {
    const { status, text, object } = await this.request(path)
    if (object?.items === undefined) throw new Error(`GET ${path}: ${status} ${object?.message ?? text}`)
    return object.items
  }

  /** Opens a watch, from the current state or from a resourceVersion in the path. */
  async watch(path: string): Promise<WatchHistory> {
    const stop = new AbortController()
    const response = await this.#fetch(`${path}${path.includes('?') ? '&' : '?'}watch=true`, {
      signal: stop.signal,
    })
    if (response.status !== 200 || response.body === null)
      throw new Error(`watch of ${path}: ${response.status} ${await response.text()}`)
    return new WatchHistory(response.body, stop)
  }

  #fetch(path: string, init: RequestInit): Promise<Response> {
    return fetch(this.#url + path, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${this.#token}` },
    })
  }
}

/** What a watch has sent so far. */
export class WatchHistory {
  readonly events: WatchedEvent[] = []
  /** Whether the server has ended it. */
  hasEnded = false
  readonly #stop: AbortController
  #wake: () => void = () => undefined

  constructor(body: AsyncIterable<Uint8Array>, stop: AbortController) {
    this.#stop = stop
    void this.#read(body)
  }

  /** The events, when there are enough; rejects if the watch ends before. */
  async until(isEnough: (events: readonly WatchedEvent[]) => boolean): Promise<readonly WatchedEvent[]> {
    while (!isEnough(this.events)) {
      if (this.hasEnded) throw new Error(`the watch has ended after ${JSON.stringify(this.lines())}`)
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
    return this.events
  }

  /** `ADDED a`: the type and the name of each event, for assertions. */
  lines(): readonly string[] {
    return this.events.map(({ type, object }) => `${type} ${object.metadata?.name ?? ''}`.trim())
  }

  close(): void {
    this.#stop.abort()
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for await (const chunk of body) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) this.events.push(JSON.parse(line) as WatchedEvent)
        this.#wake()
      }
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.events.push({ type: 'BROKEN', object: { message: String(error) } as never })
    }
    this.hasEnded = true
    this.#wake()
  }
}
