import { setTimeout as sleep } from 'node:timers/promises'
import type { ObjectKey } from '../framework/meta/object.ts'
import { isWriteConflict } from './reading/kinds.ts'

const attempts = 16

/** A write of an object that was just read. */
interface Write<T> {
  readonly key: ObjectKey
  readonly attempt: () => Promise<T>
  /** Whether the write may be repeated over a newer state of the object. */
  readonly mayRetry: () => boolean
}

const ignore = (): void => undefined

const idOf = ({ cluster, namespace = '', name }: ObjectKey): string => `${cluster}/${namespace}/${name}`

/**
 * Repeats writes that fail with a conflict. The repeated writes of one object run one after another, so that they
 * conflict only with first attempts and with other servers.
 */
export class WriteRetries {
  /** The last queued write by object. */
  readonly #lines = new Map<string, Promise<void>>()

  /** Runs the write, and repeats it after a conflict. Throws 409 when every attempt conflicts. */
  async run<T>(write: Write<T>): Promise<T> {
    try {
      return await write.attempt()
    } catch (error) {
      if (!write.mayRetry() || !isWriteConflict(error)) throw error
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
      if (left === 0 || !mayRetry() || !isWriteConflict(error)) throw error
    }
    // Servers that conflicted with each other must not retry at the same time.
    await sleep(20 * Math.random())
  }
}
