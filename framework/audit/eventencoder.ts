import { inTurns, Pace } from '../async/awaitable.ts'
import { atOnce } from '../json/json.ts'
import { type AuditRecord, recordSteps, type Unencoded } from './record.ts'
import type { SharedRoom } from './sharedroom.ts'

/** Bytes of objects that are encoded in about a millisecond. */
const small = 16 * 1024

/** An event to record, and what it keeps in memory until then. */
export interface Pending extends Unencoded {
  /** Bytes of the body of the request that `requestObject` was decoded from. */
  readonly sent: number
}

/**
 * Encodes events: those with small objects at once, and those with large ones later, one at a time and between other requests. A
 * request has objects in its last event only, so its events stay in order.
 */
export class EventEncoder {
  readonly #room: SharedRoom
  readonly #write: (record: AuditRecord) => void
  #last: Promise<void> = Promise.resolve()

  constructor(room: SharedRoom, write: (record: AuditRecord) => void) {
    this.#room = room
    this.#write = write
  }

  add(pending: Pending): void {
    const { response, sent, user } = pending
    if (sent + (response?.length ?? 0) <= small) {
      this.#write(atOnce(recordSteps(pending)))
      response?.release()
      return
    }
    const kept = sent === 0 || this.#room.take(user, sent) ? pending : withoutRequest(pending)
    this.#last = this.#last.then(() => this.#encode(kept))
  }

  async #encode(pending: Pending): Promise<void> {
    const { response, sent, user } = pending
    try {
      const pace = new Pace()
      await pace.next()
      this.#write(await inTurns(recordSteps(pending), pace))
    } finally {
      this.#room.give(user, sent)
      response?.release()
    }
  }

  /** Resolves when all events are written. */
  close(): Promise<void> {
    return this.#last
  }
}

function withoutRequest({ requestObject: _requested, ...pending }: Pending): Pending {
  return { ...pending, sent: 0, isCut: true }
}
