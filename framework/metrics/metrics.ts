import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { measureTurns, type TurnMeter } from '../async/turn.ts'
import type { ResourceRequest } from '../request/requestinfo.ts'
import {
  createAllSeries,
  type DurationObserver,
  labelsOf,
  type Names,
  otherLabels,
  type Series,
  seriesKey,
  type ViewSeries,
} from './durations.ts'
import type { MeterDefinition, MetricRecorder } from './meter.ts'
import { cacheLists, type ReadMeter, requestMeters, viewMeters } from './requestmeters.ts'

/**
 * One request in the metrics. Clusters, users and names are not labels: the number of series must not depend on
 * tenants.
 */
export interface Measured {
  /** From `performance.now()`. */
  readonly since: number
  /**
   * The request is for a served resource and in progress. Without this call it is counted as a request for discovery,
   * health or another path that is not a resource.
   */
  serves(resource: ResourceRequest): void
  /** The request works from now on, until another one does or the event loop turns. */
  works(): void
  /** The request is to a view with this name. */
  through(view: string): void
  /** A part of the response was sent. */
  sent(chunk: Buffer): void
  /** The whole response was sent, in one part of so many bytes. */
  sentWhole(bytes: number): void
  /** The response is complete. */
  end(code: number): void
}

/**
 * The metrics of the server in the text format of Prometheus (`apiserver/pkg/endpoints/metrics`). The only file that
 * imports prom-client.
 */
export interface Metrics {
  /** A request has arrived. */
  begin(method: string): Measured
  /** Adds a metric; returns the function that records a value. */
  meter(definition: MeterDefinition): MetricRecorder
  text(): Promise<{ readonly contentType: string; readonly body: string }>
}

/**
 * Tenants choose the names of resources: the number of labels is limited, and further resources are counted as `other`.
 */
const mostResources = 200

export interface MetricsOptions {
  /** Lists are answered from the watch cache of this server. */
  readonly cachedLists?: boolean
}

export function createMetrics({ cachedLists = false }: MetricsOptions = {}): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const all = createAllSeries()
  for (const meter of viewMeters) register(registry, all.views, meter)
  for (const meter of cachedLists ? [...requestMeters, cacheLists] : requestMeters)
    register(registry, all.values, meter)
  const resources = new Set<string>()
  const bounded = (request: ResourceRequest): Names => {
    const { group, version, resource } = request
    const key = `${group}/${version}/${resource}`
    if (resources.size < mostResources) resources.add(key)
    return resources.has(key) ? { group, version, resource } : { group: '', version: '', resource: 'other' }
  }
  const holds = new Holds(all.holds.of({ verb: '', group: '', version: '', resource: '' }))
  measureTurns(holds)
  const known = new Map<string, Series>()
  const book: Book = {
    of(request) {
      const key = seriesKey(request)
      const found = known.get(key)
      if (found !== undefined) return found
      const names = bounded(request)
      const series = all.of(labelsOf(request, names))
      if (names.resource !== 'other') known.set(key, series)
      return series
    },
    other: method => all.of(otherLabels(method)),
    view: name => all.view(name),
  }
  return {
    begin: method => new MeasuredRequest(book, holds, method),
    meter: definition => meterOf(registry, definition),
    text: async () => {
      const body = `${await registry.metrics()}\n${all.seconds.text()}${all.holds.text()}`
      return { contentType: registry.contentType, body }
    },
  }
}

/** The series of requests. */
interface Book {
  of(request: ResourceRequest): Series
  /** The series of requests that are not for a resource. */
  other(method: string): Series
  view(name: string): ViewSeries
}

/** Shorter work of a request is not observed, in milliseconds. */
const shortHold = 20

/** Whose work it is. */
interface Work {
  readonly holds: DurationObserver
}

/** A reading of the processor time is so many milliseconds old at most when work begins. */
const precision = 5

/** Milliseconds of processor time of the process. */
function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Measures for how long a request blocks the event loop: nothing else runs in the meantime. Processor time, because a busy machine
 * stops the process at any place; with other threads of the process, but not more than the time that has passed.
 */
class Holds implements TurnMeter {
  /** Work that is not that of a request. */
  readonly #noRequest: Work
  #current: Work | undefined
  #since = 0
  /** Reading the processor time takes longer than the work of some requests. */
  #readAt = Number.NEGATIVE_INFINITY
  #read = 0

  constructor(ofNoRequest: DurationObserver) {
    this.#noRequest = { holds: ofNoRequest }
  }

  begin(request: Work): void {
    if (this.#current === undefined) setImmediate(this.ends)
    else this.#settle(this.#current)
    this.#current = request
    this.#since = performance.now()
    if (this.#since - this.#readAt < precision) return
    this.#readAt = this.#since
    this.#read = processorTime()
  }

  waits(): () => void {
    const request = this.#current ?? this.#noRequest
    return () => this.begin(request)
  }

  readonly ends = (): void => {
    if (this.#current !== undefined) this.#settle(this.#current)
    this.#current = undefined
  }

  #settle(request: Work): void {
    const elapsed = performance.now() - this.#since
    if (elapsed < shortHold) return
    const held = Math.min(elapsed, processorTime() - this.#read)
    if (held >= shortHold) request.holds.observe(held / 1000)
  }
}

/** A class, not closures: one is created for each request. */
class MeasuredRequest implements Measured {
  readonly #book: Book
  readonly #holds: Holds
  readonly #method: string
  readonly since = performance.now()
  #series: Series | undefined
  #view: ViewSeries | undefined

  constructor(book: Book, holds: Holds, method: string) {
    this.#book = book
    this.#holds = holds
    this.#method = method
    holds.begin(this)
  }

  get holds(): DurationObserver {
    return (this.#series ?? this.#book.other(this.#method)).holds
  }

  works(): void {
    this.#holds.begin(this)
  }

  serves(resource: ResourceRequest): void {
    this.#series = this.#book.of(resource)
    this.#series.running++
    if (this.#view !== undefined && this.#series.labels.verb === 'WATCH') this.#view.watchers++
  }

  through(view: string): void {
    this.#view = this.#book.view(view)
  }

  sent(chunk: Buffer): void {
    this.sentWhole(chunk.length)
    if (this.#series?.labels.verb !== 'WATCH') return
    const events = linesIn(chunk)
    this.#series.events += events
    if (this.#view !== undefined) this.#view.events += events
  }

  sentWhole(bytes: number): void {
    if (this.#view !== undefined) this.#view.bytes += bytes
  }

  end(code: number): void {
    const isWatch = this.#series?.labels.verb === 'WATCH'
    this.#view?.end(code, isWatch ? 0 : (performance.now() - this.since) / 1000)
    if (isWatch && this.#view !== undefined) this.#view.watchers--
    if (this.#series === undefined) this.#series = this.#book.other(this.#method)
    else this.#series.running--
    this.#series.count(code)
    this.#series.seconds?.observe((performance.now() - this.since) / 1000)
  }
}

function meterOf(
  registry: Registry,
  { kind, name, help, labels, buckets, collect }: MeterDefinition,
): MetricRecorder {
  const common = { name, help, labelNames: [...labels], registers: [registry] }
  if (kind === 'counter') {
    const counter = new Counter(common)
    return (of, value) => counter.inc(of, value)
  }
  if (kind === 'histogram') {
    const histogram = new Histogram({ ...common, ...(buckets && { buckets: [...buckets] }) })
    return (of, value) => histogram.observe(of, value)
  }
  const gauge: Gauge = new Gauge({ ...common, ...(collect && { collect: () => refill(gauge, collect) }) })
  return (of, value) => gauge.set(of, value)
}

/** Labels that are no longer set are removed. */
function refill(gauge: Gauge, collect: (set: MetricRecorder) => void): void {
  gauge.reset()
  collect((of, value) => gauge.set(of, value))
}

function register<T>(
  registry: Registry,
  all: () => Iterable<T>,
  { kind, name, help, labels, read }: ReadMeter<T>,
): void {
  const fill = (meter: Counter | Gauge): void => {
    meter.reset()
    for (const series of all()) read(series, (of, value) => meter.inc(of, value))
  }
  const common = { name, help, labelNames: [...labels], registers: [registry] }
  const meter: Counter | Gauge =
    kind === 'counter'
      ? new Counter({ ...common, collect: () => fill(meter) })
      : new Gauge({ ...common, collect: () => fill(meter) })
}

const lineCounts = new WeakMap<Buffer, number>()

/** One event is one line. A chunk that several watchers share is counted once. */
function linesIn(chunk: Buffer): number {
  const known = lineCounts.get(chunk)
  if (known !== undefined) return known
  let count = 0
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) count++
  lineCounts.set(chunk, count)
  return count
}
