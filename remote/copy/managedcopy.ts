import { Backoff } from '../../framework/async/backoff.ts'
import type { Histories } from '../../framework/cache/histories.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { loopbackContext } from '../../framework/contract/loopback.ts'
import type { Selection } from '../../framework/contract/storage.ts'
import type { ObjectKey } from '../../framework/meta/object.ts'
import type { Source } from '../reading/source.ts'
import type { Copy } from './copy.ts'
import { type CopySource, fill, keepUp, NoRoom } from './filling.ts'

/** Milliseconds until a failed copy is tried again, and until one that needed too much memory is. */
const pauses = { first: 1_000, longest: 30_000 }
const pauseForRoom = 5 * 60_000

export interface ManagedCopyOptions {
  readonly source: Source
  readonly selection: Selection
  /** Bytes that the copy may use. */
  room(): number
  /** The events of all copies. */
  readonly histories: Histories
  readonly log: Logger
}

/**
 * Manages one copy: fills it on first use, fills it again when the watch at the shard is lost, and counts its
 * readers.
 */
export class ManagedCopy {
  readonly #options: ManagedCopyOptions
  readonly #stop = new AbortController()
  #copy: Copy | undefined
  #filling: Promise<Copy | undefined> | undefined
  readonly #backoff = new Backoff(pauses)
  #notBefore = 0
  #readers = 0
  #usedAt = performance.now()

  constructor(options: ManagedCopyOptions) {
    this.#options = options
  }

  /** The copy if it is filled. Otherwise starts to fill it. */
  get copy(): Copy | undefined {
    this.#usedAt = performance.now()
    if (this.#copy === undefined) void this.filled()
    return this.#copy
  }

  /**
   * Waits until the copy is filled, if possible at `version`, so that a client can resume there. undefined: the shard
   * must serve the request. Never rejects.
   */
  async filled(version?: string): Promise<Copy | undefined> {
    this.#usedAt = performance.now()
    if (this.#copy !== undefined) return this.#copy
    if (this.#filling === undefined && performance.now() < this.#notBefore) return undefined
    this.#filling ??= this.#fill(version).finally(() => {
      this.#filling = undefined
    })
    return this.#filling
  }

  /** Milliseconds since the last use; 0 while there are readers. */
  get idle(): number {
    return this.#readers > 0 ? 0 : performance.now() - this.#usedAt
  }

  find(key: ObjectKey): Item | undefined {
    return this.#copy?.find(key)
  }

  get bytes(): number {
    return this.#copy?.bytes ?? 0
  }

  /** Call before and after a long read. */
  enter(): void {
    this.#readers++
  }
  leave(): void {
    this.#readers--
    this.#usedAt = performance.now()
  }

  /** Call once a minute. */
  age(): void {
    this.#copy?.ring.age()
  }

  close(): void {
    this.#stop.abort()
    this.#copy?.close()
  }

  async #fill(version: string | undefined): Promise<Copy | undefined> {
    const original = this.#original()
    const room = this.#options.room()
    try {
      const copy = await fill(original, room, version)
      if (this.#stop.signal.aborted) copy?.close()
      if (copy === undefined || this.#stop.signal.aborted) return this.#failed()
      this.#copy = copy
      this.#backoff.reset()
      void this.#keepUp(original, copy)
      return copy
    } catch (error) {
      this.#options.log.debug({ error: String(error) }, 'failed to copy a resource of the shard')
      return this.#failed(error instanceof NoRoom ? pauseForRoom : undefined)
    }
  }

  #failed(milliseconds = this.#backoff.next()): undefined {
    this.#notBefore = performance.now() + milliseconds
  }

  async #keepUp(original: CopySource, copy: Copy): Promise<void> {
    await keepUp(original, copy).catch(error =>
      this.#options.log.debug(
        { error: String(error) },
        'the watch of a copied resource was lost, listing it again',
      ),
    )
    this.#copy = undefined
    this.#failed()
    copy.close()
  }

  #original(): CopySource {
    const { source, selection, histories, log } = this.#options
    const signal = this.#stop.signal
    const ctx = loopbackContext({ verb: 'watch', resource: source.ref, cluster: '*', signal, log })
    return { source, selection, histories, ctx }
  }
}
