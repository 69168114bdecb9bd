/** A Prometheus histogram of durations. An observation is an addition; everything else is computed when it is read. */
export interface DurationHistogram {
  /** The observer for these labels. */
  of(labels: Readonly<Record<string, string>>): DurationObserver
  /** In the text format of Prometheus. */
  text(): string
}

/** Takes observations in seconds. */
export interface DurationObserver {
  observe(seconds: number): void
}

export interface DurationsDefinition {
  readonly name: string
  readonly help: string
  /** Upper bounds in ascending order, in seconds. */
  readonly buckets: readonly number[]
}

export function createDurations({ name, help, buckets }: DurationsDefinition): DurationHistogram {
  const all = new Map<string, Observed>()
  return {
    of(labels) {
      const written = writeLabels(labels)
      const known = all.get(written) ?? new Observed(buckets)
      all.set(written, known)
      return known
    },
    text() {
      const lines = [...all].flatMap(([labels, observed]) => observed.lines(name, labels))
      return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines, ''].join('\n')
    },
  }
}

/** The escapes of Prometheus labels are those of JSON. */
const writeLabels = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    .join(',')

class Observed implements DurationObserver {
  readonly #buckets: readonly number[]
  /** One more than the bounds: durations above all of them. */
  readonly #counts: number[]
  #sum = 0

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets
    this.#counts = new Array<number>(buckets.length + 1).fill(0)
  }

  observe(seconds: number): void {
    let at = 0
    while (at < this.#buckets.length && seconds > (this.#buckets[at] ?? 0)) at++
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += seconds
  }

  lines(name: string, labels: string): readonly string[] {
    let count = 0
    const upTo = this.#counts.map((here, at) => {
      count += here
      return `${name}_bucket{${labels},le="${this.#buckets[at] ?? '+Inf'}"} ${count}`
    })
    return [...upTo, `${name}_sum{${labels}} ${this.#sum}`, `${name}_count{${labels}} ${count}`]
  }
}
