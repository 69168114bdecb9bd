/** Milliseconds. */
const longest = 2_000

/**
 * The time of a reconcile that deletes many objects. When it is over, the key goes back into the queue: the keys of other logical
 * clusters have their turn then, also where one tenant has as many logical clusters as there are workers. A reconcile that has done
 * nothing yet goes on: the next one would begin in the same place.
 */
export class WorkerTurn {
  readonly #end = performance.now() + longest
  #hasDone = false

  /** Something was done that the next reconcile need not do. */
  done(): void {
    this.#hasDone = true
  }

  get isOver(): boolean {
    return this.#hasDone && performance.now() > this.#end
  }
}
