/** What takes room as long as somebody reads it. */
export interface Holder {
  /** Of what it holds. */
  readonly bytes: number
}

export interface RoomSize {
  /** Bytes of one holder. */
  readonly each: number
  /** Bytes of all together. */
  readonly all: number
}

/** How much may be held in memory for slow readers. */
export class Room {
  readonly #size: RoomSize
  readonly #holders = new Set<Holder>()

  constructor(size: RoomSize) {
    this.#size = size
  }

  enter(holder: Holder): void {
    this.#holders.add(holder)
  }
  leave(holder: Holder): void {
    this.#holders.delete(holder)
  }

  isTooFullFor({ bytes }: Holder): boolean {
    return bytes > this.#size.each || this.bytes > this.#size.all
  }

  get bytes(): number {
    let bytes = 0
    for (const holder of this.#holders) bytes += holder.bytes
    return bytes
  }
}
