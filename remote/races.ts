import { setTimeout as sleep } from 'node:timers/promises'
import type { ObjectKey } from '../framework/meta/object.ts'
import { isLostRace } from './reading/kinds.ts'

const attempts = 16

/** A write of what has been read just before. */
interface Write<T> {
  readonly key: ObjectKey
  readonly attempt: () => Promise<T>
  /** Whether another state may be written over than the one that was seen. */
  readonly mayRetry: () => boolean
}

const ignore = (): void => undefined

const idOf = ({ cluster, namespace = '', name }: ObjectKey): string => `${cluster}/${namespace}/${name}`

/**
 * Writes that come between each other. Those that have lost go on in line, one for each object, so that they lose to
 * newcomers at most, and to other servers.
 */
export class Races {
  /** By object; settled when nobody is left in line. */
  readonly #lines = new Map<string, Promise<void>>()

  /** Does it again after a lost race, with what is there then. Throws 409 when it loses to others all the time. */
  async run<T>(write: Write<T>): Promise<T> {
    try {
      return await write.attempt()
    } catch (error) {
      if (!write.mayRetry() || !isLostRace(error)) throw error
    }
    return this.#inLine(idOf(write.key), () => again(write))
  }

  async #inLine<T>(id: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#lines.get(id) ?? Promise.resolve()).then(work)
    const settled = mine.then(ignore, ignore)
    this.#lines.set(id, settled)
    try {
      return await mine
    } finally {
      if (this.#lines.get(id) === settled) this.#lines.delete(id)
    }
  }
}

async function again<T>({ attempt, mayRetry }: Write<T>): Promise<T> {
  for (let left = attempts - 2; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0 || !mayRetry() || !isLostRace(error)) throw error
    }
    // Servers that have lost to each other once do not come back at the same time.
    await sleep(20 * Math.random())
  }
}
