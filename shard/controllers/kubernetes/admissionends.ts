import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterContent } from '../../bindings/content.ts'

/** Milliseconds. */
const pause = 100

/**
 * The ends of what other servers have admitted, for definitions that are deleted. After each of them the writes of all tenants that are on
 * their way are checked and sent again. Definitions that wait therefore share the next one, and there is a pause after each.
 */
export class AdmissionEnds {
  readonly #content: Pick<ClusterContent, 'admissionEnd' | 'commit'>
  readonly #rest: () => Promise<unknown>
  #next: Promise<void> | undefined
  #rested: Promise<unknown> = Promise.resolve()

  /** `rest`: the pause. */
  constructor(
    content: Pick<ClusterContent, 'admissionEnd' | 'commit'>,
    rest: () => Promise<unknown> = () => sleep(pause, undefined, { ref: false }),
  ) {
    this.#content = content
    this.#rest = rest
  }

  /** Resolves when all that was admitted before the call is stored or will be checked again. Rejects as `commit` does. */
  async end(): Promise<void> {
    if (this.#content.admissionEnd().length === 0) return
    this.#next ??= this.#endAfter(this.#rested)
    await this.#next
  }

  async #endAfter(rested: Promise<unknown>): Promise<void> {
    await rested
    this.#next = undefined
    const ended = this.#content.commit(this.#content.admissionEnd())
    this.#rested = ended.then(this.#rest, this.#rest)
    await ended
  }
}
