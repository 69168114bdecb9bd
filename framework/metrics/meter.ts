/** A metric of a part of the server. A label must not have more values than the operator has configured. */
export interface MeterDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[]
  /** For a gauge whose values are read on demand. */
  readonly collect?: (set: MetricRecorder) => void
}

/** Adds the value to a counter, sets a gauge, or observes it in a histogram. */
export type MetricRecorder = (labels: Readonly<Record<string, string>>, value: number) => void
