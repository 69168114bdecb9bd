import { StatusError } from '../../framework/meta/errors.ts'
import type { ClusterContent } from '../bindings/content.ts'
import type { ControllerClient, TermPermission } from './client.ts'

/**
 * The time in which this server runs the controllers. Their client refuses requests as soon as another server may run them:
 * after a pause of the process, too, and although earlier requests have not ended.
 */
export class ControllerTerm {
  readonly #now: () => number
  #lost: AbortSignal | undefined
  #until = 0

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Begins a term that ends at `until`, or when `lost` aborts. */
  begin(until: number, lost: AbortSignal): void {
    this.#until = until
    this.#lost = lost
  }

  /** The Lease was renewed. */
  extend(until: number): void {
    this.#until = until
  }

  /** The controllers have stopped. */
  end(): void {
    this.#lost = undefined
  }

  /** The client for controllers. Without a term it is `client`, for controllers that run in every server. */
  client(client: ControllerClient): ControllerClient {
    return {
      list: (...args) => this.#within(() => client.list(...args)),
      create: (...args) => this.#within(() => client.create(...args)),
      update: (resource, key, change) =>
        this.#within(() => client.update(resource, key, current => change(this.#during(current)))),
      delete: (...args) => this.#within(() => client.delete(...args)),
    }
  }

  /** The objects of logical clusters, whose changes are refused likewise. */
  content(content: ClusterContent): ClusterContent {
    return {
      ...content,
      remove: objects => this.#within(() => content.remove(objects)),
      add: objects => this.#within(() => content.add(objects)),
      commit: changes => this.#within(() => content.commit(changes)),
      transfer: changes => this.#within(() => content.transfer(changes)),
    }
  }

  /** For what a request stores: another server may run the controllers when it is admitted, or repeated after a conflict. */
  readonly permission: TermPermission = () => {
    const lost = this.#lost
    return () => {
      if (lost !== undefined && (lost !== this.#lost || this.#isOver)) throw leaseLost()
    }
  }

  get #isOver(): boolean {
    return this.#lost?.aborted === true || (this.#lost !== undefined && this.#now() >= this.#until)
  }

  async #within<T>(request: () => Promise<T>): Promise<T> {
    const lost = this.#lost
    if (lost === undefined) return request()
    return untilAborted(this.#during(request)(), lost)
  }

  /** The same value. Throws when another server may run the controllers: also for what is repeated after a conflict. */
  #during<T>(value: T): T {
    if (this.#isOver) throw leaseLost()
    return value
  }
}

/** The result, or a rejection as soon as `signal` aborts. */
function untilAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(leaseLost())
    signal.addEventListener('abort', abort, { once: true })
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

const leaseLost = (): StatusError =>
  new StatusError(503, 'ServiceUnavailable', 'another server may run the controllers: the Lease was lost')
