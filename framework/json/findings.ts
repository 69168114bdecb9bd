/** Characters that an answer says about what is wrong with a body. */
const mostText = 2 ** 20

/**
 * What is wrong with a body, as far as an answer has room for it, and at least one thing: a small body may be wrong in
 * thousands of places, each with a path as long as the body.
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

  /** There is no room for more: whoever looks for it need not put it into words. */
  get isFull(): boolean {
    return this.#room <= 0
  }

  /** `length`: characters that are said about it. */
  add(item: T, length: number): void {
    if (this.isFull) return
    this.#room -= length
    this.all.push(item)
  }
}
