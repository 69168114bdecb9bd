import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { now } from './children/churn.ts'
import { type Address, encodeRequest, openSocket } from './tools/connection.ts'
import { percentile } from './tools/statistics.ts'

/** The number of watchers that parse their events; the others only count bytes, which costs less. */
const looking = 20

/** Connections that watch one path, counted together. */
export class Watchers {
  #bytes = 0
  #lookedAt = { bytes: 0, events: 0 }
  #delays: number[] = []
  readonly #sockets: readonly Socket[]

  private constructor(sockets: readonly Socket[]) {
    this.#sockets = sockets
    sockets.forEach((socket, i) => {
      socket.on('data', chunk => {
        this.#bytes += chunk.length
        if (i < looking) this.#look(chunk)
      })
    })
  }

  static async open(address: Address, path: string, count: number): Promise<Watchers> {
    const sockets: Socket[] = []
    const request = encodeRequest({ path })
    const openOne = async (): Promise<void> => {
      while (sockets.length < count) {
        const place = sockets.length
        sockets.length++
        const socket = await openSocket(address)
        socket.write(request)
        await once(socket, 'data')
        sockets[place] = socket
      }
    }
    await Promise.all(Array.from({ length: 16 }, openOne))
    return new Watchers(sockets)
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The number of events, computed from the bytes. */
  get events(): number {
    const { bytes, events } = this.#lookedAt
    return bytes === 0 ? 0 : (this.#bytes * events) / bytes
  }

  /** Milliseconds between the creation of events and their arrival, since the last call. */
  takeDelays(): { readonly p50: number; readonly p99: number } {
    const delays = this.#delays
    this.#delays = []
    return { p50: percentile(delays, 0.5), p99: percentile(delays, 0.99) }
  }

  /** Resolves when no data arrives for some time. */
  async quiet(): Promise<void> {
    for (let before = -1; before !== this.#bytes; ) {
      before = this.#bytes
      await sleep(300)
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #look(chunk: Buffer): void {
    const arrived = now()
    this.#lookedAt.bytes += chunk.length
    for (let at = chunk.indexOf(key); at >= 0; at = chunk.indexOf(key, at + 1)) {
      const text = chunk.toString('latin1', at + key.length, at + key.length + 15)
      this.#lookedAt.events++
      if (text.length === 15) this.#delays.push(arrived - Number(text))
    }
  }
}

const key = '"sentAt":'
