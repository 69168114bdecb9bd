import type { ItemEvent } from '../contract/item.ts'
import type { Selection } from '../contract/storage.ts'
import { expired } from '../meta/errors.ts'
import type { CacheEvent, EventView, Line, Ring } from './ring.ts'
import { type Matches, matcherOf, nameOf, type ServedKind } from './selection.ts'

/** A batch ends with the event that reaches one of these limits: a slow reader holds no more. */
const mostEvents = 128
const mostBytes = 1024 * 1024

export const tooOld = (revision: number, ring: Ring): string =>
  `too old resource version: ${revision} (${ring.floor})`

/** The event for a watch with this selection (rules.md 4.53). */
function seen(event: CacheEvent, matches: Matches): ItemEvent | undefined {
  const now = event.type !== 'DELETED' && matches(event.item)
  const before = event.previous !== undefined && matches(event.previous)
  if (now) return before ? event : event.entered
  return before ? event.left : undefined
}

/** The views of the line of one cluster, and of the line of all clusters. */
function viewsOf(
  selection: Selection,
  kind: ServedKind,
): { readonly own: EventView; readonly all: EventView } {
  const { cluster } = selection
  const matches = matcherOf(selection, kind)
  const name = nameOf(selection)
  const own: EventView = matches === undefined ? { name } : { name, see: event => seen(event, matches) }
  if (cluster === '*') return { own, all: own }
  const see = (event: CacheEvent): ItemEvent | undefined => {
    if (event.item.cluster !== cluster) return undefined
    return matches === undefined ? event : seen(event, matches)
  }
  return { own, all: { name: `${cluster} ${name}`, see } }
}

/** The end of the batch that begins at a position. */
function endOf(line: Line, position: number): number {
  const last = Math.min(line.end, position + mostEvents)
  let end = position
  for (let bytes = 0; end < last && bytes < mostBytes; end++) bytes += line.at(end)?.size ?? 0
  return end
}

/**
 * A position in the ring, and the view from there. A reader of one cluster reads the line of all clusters up to its
 * end, and then that of its cluster, where events of other clusters do not wake it.
 */
export class RingReader {
  readonly #ring: Ring
  readonly #cluster: string
  readonly #own: EventView
  #view: EventView
  #line: Line
  #position: number
  #revision: number

  constructor(
    ring: Ring,
    start: { readonly position: number; readonly revision: number },
    selection: Selection,
    kind: ServedKind,
  ) {
    const { own, all } = viewsOf(selection, kind)
    this.#ring = ring
    this.#cluster = selection.cluster
    this.#own = own
    this.#view = all
    this.#line = ring.line
    this.#position = start.position
    this.#revision = start.revision
  }

  /** The revision of the last event that was read. */
  get revision(): number {
    return this.#revision
  }

  get line(): Line {
    return this.#line
  }

  /** Whether there are no events to read now. */
  get isCurrent(): boolean {
    return this.#position === this.#line.end && !this.#joinsOwnLine
  }

  /** The next events, which may all be filtered out; undefined if there are none. Throws 410 if they were dropped. */
  next(): readonly ItemEvent[] | undefined {
    const line = this.#line
    if (this.#position < line.start) throw expired(tooOld(this.#revision, this.#ring))
    const end = endOf(line, this.#position)
    if (this.#position === end) return this.#settle() ? [] : undefined
    const events = line.read(this.#position, end, this.#view)
    this.#revision = line.at(end - 1)?.revision ?? this.#revision
    this.#position = end
    return events
  }

  leave(): void {
    if (this.#line !== this.#ring.line) this.#ring.leave(this.#cluster)
  }

  get #joinsOwnLine(): boolean {
    return this.#cluster !== '*' && this.#line === this.#ring.line
  }

  #settle(): boolean {
    if (!this.#joinsOwnLine) return false
    this.#line = this.#ring.join(this.#cluster)
    this.#view = this.#own
    this.#position = this.#line.end
    return true
  }
}
