/** The most characters of all warnings of a response, and of one warning if there are more (rules.md 1.53). */
const budget = 4096
const shortened = 256

/** The first `count` characters, each of which is one or two code units. */
const charactersOf = (text: string, count: number): readonly string[] =>
  [...text.slice(0, 2 * count)].slice(0, count)

/**
 * The warnings of one response, each once. Those that cannot be sent are not kept: a request can have ten thousands.
 * Source: `k8s.io/apiserver/pkg/endpoints/filters/warning.go`.
 */
export class Warnings {
  readonly #texts = new Set<string>()
  /** At most twice as many code units as characters. */
  #left = 2 * budget

  add(text: string): void {
    if (this.#left < 0 || this.#texts.has(text)) return
    this.#texts.add(text)
    this.#left -= Math.min(text.length, 2 * shortened)
  }

  /** How many texts are kept. */
  get size(): number {
    return this.#texts.size
  }

  /** The values of the `Warning` headers, in the order of their first appearance. */
  headers(): readonly string[] {
    return withinBudget([...this.#texts]).map(headerValue)
  }
}

function withinBudget(texts: readonly string[]): readonly string[] {
  const length = texts.reduce((sum, text) => sum + charactersOf(text, budget + 1).length, 0)
  if (length <= budget) return texts
  let used = 0
  return texts
    .map(text => charactersOf(text, shortened))
    .filter(characters => {
      used += characters.length
      return used <= budget
    })
    .map(characters => characters.join(''))
}

/** `299 - "…"` as UTF-8 bytes, which Node writes from a string of single bytes. */
function headerValue(text: string): string {
  const quoted = text.replace(/\p{Cc}/gu, '').replace(/["\\]/g, '\\$&')
  return Buffer.from(`299 - "${quoted}"`, 'utf8').toString('latin1')
}
