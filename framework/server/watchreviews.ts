import type { Awaitable } from '../async/awaitable.ts'
import { Pace } from '../async/awaitable.ts'
import type { Lifetime } from '../async/lifetime.ts'
import { isUnchecked } from '../authn/token.ts'
import { StatusError } from '../meta/errors.ts'

/** An open watch, or another long-running request. */
export interface ReviewedWatch {
  readonly lifetime: Pick<Lifetime, 'ended' | 'end' | 'onOver'>
}

/** Reviews at a time. */
const most = 4
/** Milliseconds between two reviews of all watches. */
const shortest = 5_000
const longest = 60_000
/** For which one review may delay others: a server that it asks may hang. */
const patience = 100
/** How many times as long as all reviews took the pause after them is. */
const factor = 100

/**
 * Ends watches whose users may not open them any more: Kubernetes authorizes a watch only when it begins. A review that fails
 * for another reason ends none.
 */
export class WatchReviews<T extends ReviewedWatch = ReviewedWatch> {
  readonly #review: (watch: T) => Awaitable<boolean>
  readonly #shortest: number
  readonly #watches = new Set<T>()
  /** Those whose review is not complete. */
  readonly #reviewed = new WeakSet<T>()
  #isPlanned = false

  /** `review`: whether the watch may go on; it throws what a new watch would get. */
  constructor(review: (watch: T) => Awaitable<boolean>, interval = shortest) {
    this.#review = review
    this.#shortest = interval
  }

  /** The open watches. */
  get size(): number {
    return this.#watches.size
  }

  follow(watch: T): void {
    this.#watches.add(watch)
    watch.lifetime.onOver(() => this.#watches.delete(watch))
    if (!this.#isPlanned) this.#plan(this.#shortest)
  }

  #plan(pause: number): void {
    this.#isPlanned = true
    setTimeout(() => void this.#reviewAll(), pause).unref()
  }

  async #reviewAll(): Promise<void> {
    const since = performance.now()
    const watches = this.#watches.values()
    await Promise.all(Array.from({ length: most }, () => this.#reviewSome(watches)))
    this.#isPlanned = false
    const pause = Math.min(longest, factor * (performance.now() - since))
    if (this.#watches.size > 0) this.#plan(Math.max(this.#shortest, pause))
  }

  async #reviewSome(watches: Iterable<T>): Promise<void> {
    const pace = new Pace()
    for (const watch of watches) {
      const isOpen = watch.lifetime.ended === undefined
      if (isOpen && !this.#reviewed.has(watch)) await withPatience(this.#endUnlessAllowed(watch))
      await pace.due()
    }
  }

  async #endUnlessAllowed(watch: T): Promise<void> {
    this.#reviewed.add(watch)
    const mayGoOn = await this.#mayGoOn(watch)
    this.#reviewed.delete(watch)
    if (!mayGoOn) watch.lifetime.end('replaced')
  }

  async #mayGoOn(watch: T): Promise<boolean> {
    try {
      return await this.#review(watch)
    } catch (error) {
      return !(error instanceof StatusError && isRefusal(error.code)) || isUnchecked(error)
    }
  }
}

const isRefusal = (code: number): boolean => code === 401 || code === 403 || code === 404

/** Resolves with the review, or before it when that takes long. */
async function withPatience(review: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, patience)
  })
  await Promise.race([review, late])
  clearTimeout(timer)
}
