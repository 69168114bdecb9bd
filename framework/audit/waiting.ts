import type { Logger } from '../contract/log.ts'
import type { AuditMeters, AuditPlugin } from './meters.ts'
import type { AuditRecord, JsonLine } from './record.ts'

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

/** The encoded events that were not written or sent yet, in their order. What finds no room is counted and logged. */
export class WaitingEvents {
  readonly #options: WaitingOptions
  #events: JsonLine[] = []
  #bytes = 0
  #dropped = 0
  #truncated = 0

  constructor(options: WaitingOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#events.length
  }

  get bytes(): number {
    return this.#bytes
  }

  add(record: AuditRecord): void {
    const json = this.#fitting(record)
    if (json === undefined) {
      this.#dropped++
      return
    }
    this.#events.push(json)
    this.#bytes += json.length
  }

  #fitting(record: AuditRecord): JsonLine | undefined {
    const { buffer, bytes } = this.#options
    if (this.#events.length >= buffer) return undefined
    if (this.#bytes + record.json.length <= forObjects * bytes) return record.json
    const truncated = record.truncated()
    const { json } = truncated ?? record
    if (this.#bytes + json.length > bytes) return undefined
    if (truncated !== undefined) this.#truncated++
    return json
  }

  /** The first ones, which go on waiting. */
  first(most: Portion): readonly JsonLine[] {
    let [count, bytes] = [0, 0]
    for (const { length } of this.#events) {
      if (count === most.events || (count > 0 && bytes + length > most.bytes)) break
      count++
      bytes += length
    }
    return this.#events.slice(0, count)
  }

  remove(count: number): void {
    for (const { length } of this.#events.splice(0, count)) this.#bytes -= length
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
