import type { Logger } from '../contract/log.ts'
import type { AuditMeters, AuditPlugin } from './meters.ts'
import type { AuditRecord, JsonLine } from './record.ts'
import { SharedRoom } from './sharedroom.ts'

export interface WaitingOptions {
  readonly log: Logger
  readonly meters: AuditMeters
  /** What is said to have lost the events that find no room. */
  readonly plugin: AuditPlugin
  /** Maximum number of waiting events. */
  readonly buffer: number
  /** Maximum bytes of waiting events. */
  readonly bytes: number
}

/** How much is taken at a time; at least one event. */
export interface Portion {
  readonly events: number
  readonly bytes: number
}

/** Events with objects have only this part of the bytes: what else happens is still recorded when large bodies have used it up. */
const forObjects = 0.75

/** An event that waits, and what it takes of the share of its user. */
interface Waiting {
  readonly user: string
  readonly line: JsonLine
  /** 0 without objects. */
  readonly bytesOfObjects: number
}

/**
 * The encoded events that were not written or sent yet, in their order. Users share the room for events, and that for events with
 * objects: what others do is still recorded when one user has used up a share. What finds no room is counted and logged.
 */
export class WaitingEvents {
  readonly #options: WaitingOptions
  readonly #places: SharedRoom
  readonly #roomForObjects: SharedRoom
  #events: Waiting[] = []
  #bytes = 0
  #dropped = 0
  #truncated = 0

  constructor(options: WaitingOptions) {
    this.#options = options
    this.#places = new SharedRoom(options.buffer)
    this.#roomForObjects = new SharedRoom(forObjects * options.bytes)
  }

  get count(): number {
    return this.#events.length
  }

  get bytes(): number {
    return this.#bytes
  }

  add(record: AuditRecord): void {
    const waiting = this.#placed(record)
    if (waiting === undefined) {
      this.#dropped++
      return
    }
    this.#events.push(waiting)
    this.#bytes += waiting.line.length
  }

  #placed(record: AuditRecord): Waiting | undefined {
    const { user } = record
    if (!this.#places.take(user, 1)) return undefined
    const waiting = this.#fitting(record)
    if (waiting === undefined) this.#places.give(user, 1)
    return waiting
  }

  /** With its objects, or without them. */
  #fitting(record: AuditRecord): Waiting | undefined {
    const { user, json } = record
    if (!record.hasObjects) return this.#short(user, json)
    if (this.#fits(json) && this.#roomForObjects.take(user, json.length))
      return { user, line: json, bytesOfObjects: json.length }
    const truncated = record.truncated()
    const short = truncated && this.#short(user, truncated.json)
    if (short !== undefined) this.#truncated++
    return short
  }

  #short(user: string, line: JsonLine): Waiting | undefined {
    return this.#fits(line) ? { user, line, bytesOfObjects: 0 } : undefined
  }

  #fits({ length }: JsonLine): boolean {
    return this.#bytes + length <= this.#options.bytes
  }

  /** The first ones, which go on waiting. */
  first(most: Portion): readonly JsonLine[] {
    let [count, bytes] = [0, 0]
    for (const { line } of this.#events) {
      const { length } = line
      if (count === most.events || (count > 0 && bytes + length > most.bytes)) break
      count++
      bytes += length
    }
    return this.#events.slice(0, count).map(({ line }) => line)
  }

  remove(count: number): void {
    for (const { user, line, bytesOfObjects } of this.#events.splice(0, count)) {
      this.#bytes -= line.length
      this.#places.give(user, 1)
      if (bytesOfObjects > 0) this.#roomForObjects.give(user, bytesOfObjects)
    }
  }

  /** Counts and logs what found no room since the last call. */
  report(): void {
    const { log, meters, plugin } = this.#options
    const [dropped, truncated] = [this.#dropped, this.#truncated]
    this.#dropped = 0
    this.#truncated = 0
    if (dropped > 0) {
      meters.lost(plugin, dropped)
      log.error({ events: dropped }, 'audit buffer full, events dropped')
    }
    if (truncated > 0) log.error({ events: truncated }, 'audit buffer full, objects left out of events')
  }
}
