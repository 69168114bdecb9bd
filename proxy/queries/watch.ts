import { setTimeout as sleep } from 'node:timers/promises'
import { pacedMap } from '../../framework/async/awaitable.ts'
import { ResponseTooLarge } from '../../framework/net/failure.ts'
import { isTrue } from '../../framework/request/requestinfo.ts'
import { JoinedColumns } from './columns.ts'
import {
  bookmarkAt,
  columnsIn,
  errorLine,
  type Frame,
  framesOf,
  isEndOfInitialEvents,
  versionOf,
  withColumns,
  withRows,
} from './frames.ts'
import { Merged } from './merged.ts'
import { askAll, type ShardPart } from './part.ts'
import { newer, Revisions } from './revisions.ts'

export interface PartsWatch {
  readonly parts: readonly ShardPart[]
  readonly query: URLSearchParams
  readonly isTable: boolean
  /** Aborted when the client is gone, the server stops, or the shards change. */
  readonly signal: AbortSignal
  /** Milliseconds after which a shard without the resource is asked again. */
  readonly pause: number
}

/** Opens the watch of each shard. Throws the Status of a shard, and 404 if no shard has the resource. */
export async function watchParts(watch: PartsWatch): Promise<AsyncGenerator<Buffer, void>> {
  const { parts, query } = watch
  const revisions = new Revisions(parts.map(({ shard }) => shard))
  const versions = revisions.asked(query.get('resourceVersion') ?? '')
  const bodies = await askAll(parts, (part, i) => open(part, versions[i] ?? ''))
  return new MergedWatch(watch, { revisions, versions }).frames(bodies)
}

type Body = AsyncIterable<Buffer>

/** A part that did not have the resource at its version is watched from its beginning: all objects are new. */
async function open(part: ShardPart, version: string): Promise<Body> {
  const resourceVersion = version === '0' || version === '' ? undefined : version
  return (await part.ask({ resourceVersion })).body as Body
}

/** The current objects as ADDED events, then the changes. */
async function fromBeginning(part: ShardPart): Promise<Body> {
  const none = { resourceVersion: undefined, resourceVersionMatch: undefined, sendInitialEvents: undefined }
  return (await part.ask(none)).body as Body
}

interface Start {
  readonly revisions: Revisions
  readonly versions: readonly string[]
}

/** The events of all shards in one response. Bookmarks have the versions of all shards. */
class MergedWatch {
  readonly #watch: PartsWatch
  readonly #revisions: Revisions
  /** The version up to which the events of each shard were sent; undefined: not known yet. */
  readonly #positions: (string | undefined)[]
  /** The shards whose initial events are not complete. */
  readonly #initial = new Set<number>()
  readonly #merged = new Merged<number, readonly Frame[]>()
  readonly #columns = new JoinedColumns()
  #sentColumns = ''
  readonly #sendsInitialEvents: boolean
  readonly #wantsBookmarks: boolean

  constructor(watch: PartsWatch, { revisions, versions }: Start) {
    this.#watch = watch
    this.#revisions = revisions
    this.#sendsInitialEvents = isTrue(watch.query.get('sendInitialEvents'))
    this.#wantsBookmarks = isTrue(watch.query.get('allowWatchBookmarks'))
    const isFrom = (version: string) => !this.#sendsInitialEvents && version !== '' && version !== '0'
    this.#positions = versions.map(version => (isFrom(version) ? version : undefined))
  }

  async *frames(bodies: readonly (Body | undefined)[]): AsyncGenerator<Buffer, void> {
    for (const [i, body] of bodies.entries()) {
      if (body === undefined) this.#await(i)
      else this.#follow(i, body)
    }
    try {
      for await (const { from, value } of this.#merged.values()) {
        const errorAt = value.findIndex(({ type }) => type === 'ERROR')
        const sent = errorAt < 0 ? value : value.slice(0, errorAt + 1)
        const lines = await pacedMap(sent, frame => this.#shown(from, frame))
        if (lines.length > 0) yield Buffer.concat(lines.flatMap(line => [line, newline]))
        if (errorAt >= 0) return
      }
    } catch (error) {
      // Otherwise the connection to a shard was lost: the client watches again, and gets the error.
      if (error instanceof ResponseTooLarge) yield errorLine(error)
    }
  }

  #follow(index: number, body: Body): void {
    if (this.#sendsInitialEvents) this.#initial.add(index)
    this.#merged.add(index, framesOf(body))
  }

  /** A shard without the resource is asked until it has it: then all its objects are new. */
  #await(index: number): void {
    this.#positions[index] = '0'
    void this.#appeared(index).then(
      body => {
        this.#positions[index] = undefined
        this.#merged.add(index, framesOf(body))
      },
      () => undefined,
    )
  }

  /** Rejects when the watch ends. */
  async #appeared(index: number): Promise<Body> {
    const { parts, pause, signal } = this.#watch
    for (;;) {
      await sleep(pause, undefined, { signal })
      const found = await fromBeginning(parts[index] as ShardPart).catch(() => undefined)
      if (found !== undefined) return found
    }
  }

  /** The event as it is sent; undefined: it is not sent. */
  #shown(index: number, frame: Frame): Buffer | undefined {
    if (frame.type === 'BOOKMARK') return this.#bookmark(index, frame)
    if (frame.type === 'ERROR') return frame.line
    const position = this.#positions[index]
    if (position !== undefined) this.#positions[index] = newer(position, versionOf(frame) || '0')
    return this.#watch.isTable ? this.#row(index, frame) : frame.line
  }

  /** A bookmark when the positions of all shards are known; the end of the initial events when it is that of all shards. */
  #bookmark(index: number, frame: Frame): Buffer | undefined {
    this.#positions[index] = newer(this.#positions[index] ?? '0', versionOf(frame))
    const isEnd = this.#initial.size > 0 && isEndOfInitialEvents(frame)
    if (isEnd) this.#initial.delete(index)
    const known = this.#positions.flatMap(position => position ?? [])
    const isComplete = this.#initial.size === 0 && known.length === this.#positions.length
    if (!this.#wantsBookmarks || !isComplete) return undefined
    const line = bookmarkAt(frame, this.#revisions.joined(known))
    return this.#watch.isTable ? this.#row(index, { ...frame, line }) : line
  }

  /** A Table has the columns of all shards where those are others than before, and a cell for each: they can be large. */
  #row(index: number, frame: Frame): Buffer {
    const own = columnsIn(frame)
    if (own !== undefined) this.#columns.add(index, own)
    const converted = this.#columns.rowsOf(index)
    if (converted === undefined) return frame.line
    const { text } = this.#columns
    const isKnown = text === this.#sentColumns
    this.#sentColumns = text
    const isBookmark = frame.type === 'BOOKMARK'
    return withColumns(isBookmark ? frame : withRows(frame, converted), isKnown ? undefined : text)
  }
}

const newline = Buffer.from('\n')
