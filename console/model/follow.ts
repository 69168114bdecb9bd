import { type Api, ApiError, accepts } from './api.ts'
import { linesOf } from './lines.ts'

/** An event of a watch. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: T
}

/** Called with what is seen of a list. */
export interface Follower<L, E> {
  /** The whole list: at first, and again when the watch cannot be continued. */
  list(list: L): void
  event(event: WatchEvent<E>): void
  /** undefined: it works again. */
  problem(error: ApiError | undefined): void
}

/** The fields of lists, objects and Tables by which a watch continues. */
export interface Versioned {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  /** Of tables. */
  readonly rows?: readonly { readonly object?: Versioned }[] | null
  readonly code?: number
  readonly message?: string
}

export interface FollowRequest {
  readonly path: string
  readonly accept?: string
  readonly signal: AbortSignal
}

/** Milliseconds. */
const pauses = { first: 1_000, longest: 15_000 }

/** Lists and watches until the signal aborts. Errors are reported, and tried again, but not those that only another credential mends. */
export async function follow<L extends Versioned, E extends Versioned>(
  api: Api,
  { path, accept = accepts.json, signal }: FollowRequest,
  follower: Follower<L, E>,
): Promise<void> {
  let pause = pauses.first
  while (!signal.aborted) {
    const watched = new Progress()
    try {
      const list = await listed<L>(api, { path, accept, signal })
      follower.problem(undefined)
      follower.list(list)
      pause = pauses.first
      await watchFrom(api, { path, accept, signal }, { version: versionOf(list), follower, watched })
    } catch (error) {
      if (signal.aborted) return
      const known = error instanceof ApiError ? error : new ApiError(0, String(error))
      if (known.status === 410 && watched.isMade) continue
      follower.problem(known)
      if (known.status === 401) return
      await wait(pause, signal)
      pause = Math.min(pause * 2, pauses.longest)
    }
  }
}

/** The most pages of a Table. */
const mostPages = 10

/** A list; of a Table with a limit, its first pages together. The version is that of all pages. */
async function listed<L extends Versioned>(
  api: Api,
  { path, accept, signal }: Required<FollowRequest>,
): Promise<L> {
  const pages = [await api.json<L>(path, { accept, signal })]
  const token = (): string => pages.at(-1)?.metadata?.continue ?? ''
  while (token() !== '' && pages.length < mostPages)
    pages.push(await api.json<L>(`${path}&continue=${encodeURIComponent(token())}`, { accept, signal }))
  const [first] = pages as [L]
  if (pages.length === 1) return first
  const metadata = { ...first.metadata, continue: token() }
  return { ...first, metadata, rows: pages.flatMap(({ rows }) => rows ?? []) }
}

/** Whether a watch had an event or a while without one. A server that refuses each version at once must not be asked without a pause. */
class Progress {
  readonly #started = performance.now()
  hasEvents = false

  get isMade(): boolean {
    return this.hasEvents || performance.now() - this.#started >= pauses.first
  }
}

interface From<L, E> {
  readonly version: string
  readonly follower: Follower<L, E>
  readonly watched: Progress
}

/** Continues the watch while it can be continued. Rejects with an `ApiError`; one with status 410 asks for a new list. */
async function watchFrom<L, E extends Versioned>(
  api: Api,
  { path, accept, signal }: Required<FollowRequest>,
  { version, follower, watched }: From<L, E>,
): Promise<void> {
  let latest = version
  while (!signal.aborted) {
    const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${encodeURIComponent(latest)}`
    const response = await api.send(`${path}${path.includes('?') ? '&' : '?'}${query}`, { accept, signal })
    const started = performance.now()
    for await (const line of linesOf(response.body)) {
      const event = JSON.parse(line) as WatchEvent<E>
      if (event.type === 'ERROR') throw new ApiError(event.object.code ?? 500, event.object.message ?? '')
      watched.hasEvents = true
      latest = versionOf(event.object) || latest
      if (event.type !== 'BOOKMARK') follower.event(event)
    }
    // A server that ends watches at once must not be asked without a pause.
    if (performance.now() - started < pauses.first) await wait(pauses.first, signal)
  }
}

/** That of the list or object; of a Table without one, as in events, that of its row. */
const versionOf = ({ metadata, rows }: Versioned): string =>
  metadata?.resourceVersion || (rows?.[0]?.object?.metadata?.resourceVersion ?? '')

const wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
