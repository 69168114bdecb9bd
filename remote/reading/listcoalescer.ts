import { turn } from '../../framework/async/awaitable.ts'
import type { Batches } from './listreader.ts'
import { Room, type RoomSize } from './memorybudget.ts'
import { Flight, type Send } from './sharedlist.ts'

const mebibyte = 1024 * 1024
const defaultSize: RoomSize = { each: 32 * mebibyte, all: 128 * mebibyte }

const ignore = (): void => undefined

/** Lists that the shard would be asked for alike. */
class Lane {
  /** Who reads one of them, or waits for it. */
  readers = 0
  readonly #room: Room
  /** Not sent yet. */
  #next: Flight | undefined
  /** Settled when the next may be sent. */
  #isFree: Promise<void> = Promise.resolve()

  constructor(room: Room) {
    this.#room = room
  }

  /** One that is sent after this call, and not before the one under way has landed. */
  next(send: Send): Flight {
    if (this.#next === undefined || this.#next.isAbandoned) this.#next = this.#plan(send)
    return this.#next
  }

  #plan(send: Send): Flight {
    const begins = this.#isFree.then(turn).then(() => {
      if (this.#next === flight) this.#next = undefined
    })
    const flight = new Flight(begins, send, this.#room)
    this.#isFree = flight.landed.then(ignore, ignore)
    return flight
  }
}

/**
 * Asks the shard once for many who ask for the same at the same time. A list is right when it shows the shard at any moment
 * after it was asked for, so nobody is given one that was sent before that.
 */
export class Flights {
  readonly #lanes = new Map<string, Lane>()
  readonly #room: Room

  constructor(size: RoomSize = defaultSize) {
    this.#room = new Room(size)
  }

  /** Bytes that are kept for somebody to read. */
  get bytes(): number {
    return this.#room.bytes
  }

  /** `id` names everything that decides what the shard answers. The first alone gets its list as it comes. */
  async *list(id: string, signal: AbortSignal, send: Send): Batches {
    const known = this.#lanes.get(id)
    const lane = known ?? new Lane(this.#room)
    this.#lanes.set(id, lane)
    lane.readers++
    try {
      return yield* known === undefined ? send(signal) : lane.next(send).read(signal)
    } finally {
      lane.readers--
      if (lane.readers === 0) this.#lanes.delete(id)
    }
  }
}
