import { addAbortSignal, PassThrough, Readable } from 'node:stream'
import { expired, modified, notFound, notServed, type StatusError } from '../../framework/meta/errors.ts'
import { parseLabelSelector } from '../../framework/selectors/parse.ts'
import { matchesLabels } from '../../framework/selectors/selectors.ts'
import type { ShardAnswer, ShardConnection, ShardRequest } from '../connection/connection.ts'

interface Widget {
  readonly metadata: {
    readonly name: string
    readonly resourceVersion: string
    readonly labels: Readonly<Record<string, string>>
  }
}

interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: Widget
  readonly previous: Widget | undefined
}

interface Watch {
  readonly body: PassThrough
  readonly query: URLSearchParams
}

/** A list with the state at the time of its request, not sent yet. */
interface HeldList {
  readonly body: PassThrough
  readonly bytes: Buffer
}

const head = { apiVersion: 'example.com/v1', kind: 'Widget' }
const versionOf = ({ metadata }: Widget): number => Number(metadata.resourceVersion)

/** A shard with one resource, for tests: they decide when it answers, fails or loses its connections. */
export class ScriptedShard {
  revision = 1
  /** The targets of all requests. */
  readonly targets: string[] = []
  /** The error of every request. */
  failure: StatusError | undefined
  /** The oldest resourceVersion that watches can resume from. */
  oldest = 0
  isBound = true
  readonly #objects = new Map<string, Widget>()
  readonly #changes: Change[] = []
  readonly #watches = new Set<Watch>()
  readonly #lists = new Set<HeldList>()
  #areListsHeld = false
  #held: Change[] | undefined

  get connection(): ShardConnection {
    const ask = (request: ShardRequest): Promise<ShardAnswer> => this.#answer(request)
    const reach = {
      isGood: () => this.failure === undefined,
      presents: () => undefined,
      answered: () => undefined,
      failed: () => undefined,
    }
    return { ask, send: ask, reach, use: () => undefined, close: async () => undefined }
  }

  get watches(): number {
    return this.#watches.size
  }
  asked(pattern: RegExp): number {
    return this.targets.filter(target => pattern.test(target)).length
  }

  put(name: string, labels: Record<string, string> = {}): number {
    const previous = this.#objects.get(name)
    const metadata = {
      annotations: { 'kcp.io/cluster': 'one' },
      labels,
      name,
      resourceVersion: String(++this.revision),
    }
    const object = { ...head, metadata }
    this.#objects.set(name, object)
    this.#change({ type: previous === undefined ? 'ADDED' : 'MODIFIED', object, previous })
    return this.revision
  }

  delete(name: string): void {
    const previous = this.#objects.get(name)
    if (previous === undefined) return
    this.#objects.delete(name)
    const metadata = { ...previous.metadata, resourceVersion: String(++this.revision) }
    this.#change({ type: 'DELETED', object: { ...previous, metadata }, previous })
  }

  /** Increments the revision, as a write of another resource does. */
  advance(): void {
    this.revision++
  }

  bookmark(): void {
    const object = { ...head, metadata: { resourceVersion: String(this.revision) } }
    for (const { body } of this.#watches) body.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
  }

  /** Delays the events of watches until `release`. */
  hold(): void {
    this.#held = []
  }
  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const change of held) this.#tell(change)
  }

  /** Delays the responses of lists until `releaseLists`. */
  holdLists(): void {
    this.#areListsHeld = true
  }
  releaseLists(): void {
    this.#areListsHeld = false
    for (const { body, bytes } of this.#lists) Readable.from(piecesOf(bytes)).pipe(body)
  }
  /** Breaks the connections of all lists that are being sent. */
  breakLists(): void {
    const broken = Object.assign(new Error('broken'), { code: 'ECONNRESET' })
    for (const { body } of this.#lists) body.destroy(broken)
  }
  /** The number of delayed lists. */
  get lists(): number {
    return this.#lists.size
  }

  /** Ends all watches, as when their connections are lost. */
  cut(): void {
    for (const { body } of this.#watches) body.destroy(new Error('cut'))
    this.#watches.clear()
  }

  #change(change: Change): void {
    this.#changes.push(change)
    if (this.#held === undefined) this.#tell(change)
    else this.#held.push(change)
  }

  #tell(change: Change): void {
    for (const watch of this.#watches) this.#write(watch, change)
  }

  #write({ body, query }: Watch, { type, object, previous }: Change): void {
    const isIn = (widget: Widget): boolean => selects(query, widget)
    const was = previous !== undefined && isIn(previous)
    const is = type !== 'DELETED' && isIn(object)
    if (!was && !is) return
    body.write(`${JSON.stringify({ type: is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED', object })}\n`)
  }

  async #answer(request: ShardRequest): Promise<ShardAnswer> {
    const { method, target, signal } = request
    this.targets.push(method === 'GET' ? target : `${method} ${target}`)
    if (this.failure !== undefined) throw this.failure
    if (!this.isBound) throw notServed()
    const { pathname, searchParams: query } = new URL(target, 'https://shard')
    const name = pathname.split('/')[7]
    if (name !== undefined) return answerOf(this.#one(name, request))
    const from = Number(query.get('resourceVersion') ?? 0)
    if (from > 0 && from < this.oldest) throw expired(`too old resource version: ${from} (${this.oldest})`)
    const body = query.has('watch') ? this.#watch(query, from, signal) : this.#list(query, signal)
    return { statusCode: 200, headers: {}, body } as unknown as ShardAnswer
  }

  #one(name: string, { method, body = '' }: ShardRequest): Widget {
    const current = this.#objects.get(name)
    const about = { group: 'example.com', resource: 'widgets', name }
    if (current === undefined) throw notFound(about)
    if (method === 'GET') return current
    const { metadata } = JSON.parse(body.toString()) as Widget
    if (metadata.resourceVersion !== current.metadata.resourceVersion) throw modified(about)
    this.put(name, metadata.labels)
    return this.#objects.get(name) ?? current
  }

  #watch(query: URLSearchParams, from: number, signal: AbortSignal): Readable {
    const watch = { body: new PassThrough(), query }
    this.#watches.add(watch)
    const end = (): void => void watch.body.destroy()
    signal.addEventListener('abort', end)
    watch.body
      .on('error', () => undefined)
      .on('close', () => {
        signal.removeEventListener('abort', end)
        this.#watches.delete(watch)
      })
    for (const change of this.#changes) {
      const isHeld = this.#held?.includes(change) ?? false
      if (versionOf(change.object) > from && !isHeld) this.#write(watch, change)
    }
    return watch.body
  }

  #list(query: URLSearchParams, signal: AbortSignal): Readable {
    const exact =
      query.get('resourceVersionMatch') === 'Exact' ? Number(query.get('resourceVersion')) : undefined
    const state = exact === undefined ? this.#objects : this.#stateAt(exact)
    const items = [...state.values()]
      .filter(widget => selects(query, widget))
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    const metadata = { resourceVersion: String(exact ?? this.revision) }
    const list = { apiVersion: head.apiVersion, kind: 'WidgetList', metadata, items }
    return this.#send(Buffer.from(JSON.stringify(list)), signal)
  }

  #send(bytes: Buffer, signal: AbortSignal): Readable {
    if (!this.#areListsHeld) return Readable.from(piecesOf(bytes))
    const list = { bytes, body: addAbortSignal(signal, new PassThrough()) }
    this.#lists.add(list)
    list.body.on('error', () => undefined).on('close', () => this.#lists.delete(list))
    return list.body
  }

  #stateAt(revision: number): ReadonlyMap<string, Widget> {
    const state = new Map<string, Widget>()
    for (const { type, object } of this.#changes) {
      if (versionOf(object) > revision) break
      if (type === 'DELETED') state.delete(object.metadata.name)
      else state.set(object.metadata.name, object)
    }
    return state
  }
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 16_384) yield bytes.subarray(at, at + 16_384)
}

const answerOf = (object: Widget): ShardAnswer => {
  const body = Readable.from([Buffer.from(JSON.stringify(object))])
  return { statusCode: 200, headers: {}, body } as unknown as ShardAnswer
}

const selects = (query: URLSearchParams, { metadata }: Widget): boolean =>
  matchesLabels(parseLabelSelector(query.get('labelSelector') ?? ''), metadata.labels)
