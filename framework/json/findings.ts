/** Characters of the findings in one response. */
const mostText = 2 ** 20

/**
 * The findings about a request body that fit into one response, and at least one: a small body may have thousands of
 * problems, each with a path as long as the body.
 */
export class Findings<T> {
  readonly all: T[] = []
  #room = mostText

  static of<T>(items: Iterable<T>, textOf: (item: T) => string): readonly T[] {
    const findings = new Findings<T>()
    for (const item of items) {
      if (findings.isFull) break
      findings.add(item, textOf(item).length)
    }
    return findings.all
  }

  /** No further finding is kept. */
  get isFull(): boolean {
    return this.#room <= 0
  }

  /** `length`: characters of the finding in the response. */
  add(item: T, length: number): void {
    if (this.isFull) return
    this.#room -= length
    this.all.push(item)
  }
}
