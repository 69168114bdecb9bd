import type { ResourceRequest } from '../request/requestinfo.ts'

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

/** Requests with the same labels: plain numbers until the metrics are read. */
export class Series {
  readonly labels: RequestLabels
  /** Without long-running requests. */
  readonly seconds: DurationObserver | undefined
  readonly holds: DurationObserver
  readonly codes = new Map<number, number>()
  running = 0
  /** Events that were sent to watchers. */
  events = 0

  constructor(labels: RequestLabels, seconds: DurationHistogram, holds: DurationHistogram) {
    const { verb, scope, group, version, resource } = labels
    this.labels = labels
    this.seconds = verb === 'WATCH' ? undefined : seconds.of({ verb, scope })
    this.holds = holds.of({ verb, group, version, resource })
  }

  count(code: number): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
  }
}

/** The requests to one view. */
export class ViewSeries {
  readonly view: string
  readonly codes = new Map<number, number>()
  /** Of requests that are not watches. */
  seconds = 0
  watchers = 0
  events = 0
  bytes = 0

  constructor(view: string) {
    this.view = view
  }

  end(code: number, seconds: number): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
    this.seconds += seconds
  }
}

export interface AllSeries {
  readonly seconds: DurationHistogram
  /** Work that blocked the event loop. */
  readonly holds: DurationHistogram
  /** One series for equal labels. */
  of(labels: RequestLabels): Series
  values(): Iterable<Series>
  view(name: string): ViewSeries
  views(): Iterable<ViewSeries>
}

export function createAllSeries(): AllSeries {
  const all = new Map<string, Series>()
  const views = new Map<string, ViewSeries>()
  const seconds = createDurations({
    name: 'apiserver_request_duration_seconds',
    help: 'Time from the request line to the end of the answer, without long-running requests.',
    buckets: [0.005, 0.025, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60],
  })
  const holds = createDurations({
    name: 'oriel_request_event_loop_hold_seconds',
    help: 'Processor time of work of requests that blocked the event loop for 20 milliseconds or longer.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })
  return {
    seconds,
    holds,
    of(labels) {
      const key = JSON.stringify(labels)
      const found = all.get(key) ?? new Series(labels, seconds, holds)
      all.set(key, found)
      return found
    },
    values: () => all.values(),
    view(name) {
      const found = views.get(name) ?? new ViewSeries(name)
      views.set(name, found)
      return found
    },
    views: () => views.values(),
  }
}

export type Names = Record<'group' | 'version' | 'resource', string>
export type RequestLabels = Names & Record<'verb' | 'scope' | 'subresource', string>

export function labelsOf(request: ResourceRequest, names: Names): RequestLabels {
  const subresource = names.resource === 'other' ? '' : request.subresource
  return { verb: verbLabels[request.verb], scope: scopeOf(request), ...names, subresource }
}

/** Equal for requests with equal labels, if their resource has labels of its own. */
export const seriesKey = (request: ResourceRequest): string =>
  `${request.verb} ${scopeOf(request)} ${request.group}/${request.version}/${request.resource}/${request.subresource}`

export function otherLabels(method: string): RequestLabels {
  const verb = methods.has(method) ? method : 'OTHER'
  return { verb, scope: '', group: '', version: '', resource: '', subresource: '' }
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const verbLabels: Readonly<Record<ResourceRequest['verb'], string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
}

function scopeOf({ name, namespace, resource }: ResourceRequest): string {
  if (name !== '') return 'resource'
  return namespace !== '' && resource !== 'namespaces' ? 'namespace' : 'cluster'
}
