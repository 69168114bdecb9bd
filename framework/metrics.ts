import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ResourceRequest } from './requestinfo.ts'

/** What is counted about a request. Never a cluster, a user or a name: the number of series must not follow the tenants. */
export interface Measured {
  /** Absent for discovery, health and everything else that is no resource, and for resources that are not served. */
  readonly resource?: ResourceRequest
  readonly method: string
  /** From `performance.now()`. */
  readonly since: number
}

/** The server's own measurements in Prometheus' text format (chapter 40, section 8.7). The only file that knows the package. */
export interface Metrics {
  /** A request is under way; returns what is called once at its end. */
  started(measured: Measured): (code: number) => void
  /** Events have been handed to a watcher. */
  watchEvents(resource: ResourceRequest, count: number): void
  /** Measurements of a part of the server; returns what takes one. */
  meter(definition: MeterDefinition): Meter
  text(): Promise<{ readonly contentType: string; readonly body: string }>
}

/** What a part of the server measures besides. No label may have more values than the operator has given. */
export interface MeterDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[]
  /** A gauge whose values are asked for when they are read. */
  readonly collect?: (set: Meter) => void
}

/** Counters add the value, gauges become it, histograms observe it. */
export type Meter = (labels: Readonly<Record<string, string>>, value: number) => void

/** Tenants name resources, so only so many are told apart; the rest is counted together as `other`. */
const mostResources = 200
/** So many combinations are remembered; for others the meters are looked up each time. */
const mostSeries = 10_000
const requestLabels = [
  'verb',
  'group',
  'version',
  'resource',
  'subresource',
  'scope',
  'code',
  'dry_run',
  'component',
]

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const meters = createMeters(registry)
  const resources = new Set<string>()
  const series = new Map<string, Series>()
  const bounded = (request: ResourceRequest): Names => {
    const { group, version, resource } = request
    const key = `${group}/${version}/${resource}`
    if (resources.size < mostResources) resources.add(key)
    return resources.has(key) ? { group, version, resource } : { group: '', version: '', resource: 'other' }
  }
  return {
    started: ({ resource, method, since }) => {
      const key = resource === undefined ? method : keyOf(resource)
      let found = series.get(key)
      if (found === undefined) {
        found = seriesOf(meters, labelsOf(method, resource, resource && bounded(resource)))
        if (series.size < mostSeries) series.set(key, found)
      }
      return start(found, since)
    },
    watchEvents: (request, count) => meters.events.inc(bounded(request), count),
    meter: definition => meterOf(registry, definition),
    text: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  }
}

function meterOf(registry: Registry, { kind, name, help, labels, buckets, collect }: MeterDefinition): Meter {
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

/** What is not set any more is not there any more. */
function refill(gauge: Gauge, collect: (set: Meter) => void): void {
  gauge.reset()
  collect((of, value) => gauge.set(of, value))
}

type Meters = ReturnType<typeof createMeters>

function createMeters(registry: Registry) {
  const registers = [registry]
  return {
    requests: new Counter({
      name: 'apiserver_request_total',
      help: 'Requests by verb, resource and code.',
      labelNames: requestLabels,
      registers,
    }),
    seconds: new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the request line to the end of the answer, without long-running requests.',
      labelNames: ['verb', 'scope'],
      buckets: [0.005, 0.025, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60],
      registers,
    }),
    inflight: new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests that are being answered, without long-running ones.',
      labelNames: ['request_kind'],
      registers,
    }),
    longrunning: new Gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Open watches.',
      labelNames: ['verb', 'group', 'version', 'resource', 'scope'],
      registers,
    }),
    events: new Counter({
      name: 'apiserver_watch_events_total',
      help: 'Events handed to watchers.',
      labelNames: ['group', 'version', 'resource'],
      registers,
    }),
  }
}

const keyOf = (request: ResourceRequest): string =>
  `${request.verb} ${scopeOf(request)} ${request.group}/${request.version}/${request.resource}/${request.subresource}`

type Names = Record<'group' | 'version' | 'resource', string>
type RequestLabels = Names & Record<'verb' | 'scope' | 'subresource', string>

function labelsOf(method: string, request?: ResourceRequest, names?: Names): RequestLabels {
  if (request === undefined || names === undefined) {
    const verb = methods.has(method) ? method : 'OTHER'
    return { verb, scope: '', group: '', version: '', resource: '', subresource: '' }
  }
  const subresource = names.resource === 'other' ? '' : request.subresource
  return { verb: verbLabels[request.verb], scope: scopeOf(request), ...names, subresource }
}

/** The meters of requests that are counted alike, bound once: finding them by their labels costs more than counting. */
interface Series {
  readonly running: Gauge.Internal<string>
  readonly seconds: Histogram.Internal<string> | undefined
  count(code: number): void
}

function seriesOf(meters: Meters, labels: RequestLabels): Series {
  const { verb, scope, subresource, ...names } = labels
  const isLong = verb === 'WATCH'
  const codes = new Map<number, Counter.Internal>()
  return {
    running: isLong
      ? meters.longrunning.labels({ verb, scope, ...names })
      : meters.inflight.labels({ request_kind: reading.has(verb) ? 'readOnly' : 'mutating' }),
    seconds: isLong ? undefined : meters.seconds.labels({ verb, scope }),
    count: code => {
      let counter = codes.get(code)
      if (counter === undefined) {
        counter = meters.requests.labels({
          ...labels,
          code: String(code),
          dry_run: '',
          component: 'apiserver',
        })
        codes.set(code, counter)
      }
      counter.inc()
    },
  }
}

function start(series: Series, since: number): (code: number) => void {
  series.running.inc()
  return code => {
    series.running.dec()
    series.count(code)
    series.seconds?.observe((performance.now() - since) / 1000)
  }
}

const reading = new Set(['GET', 'HEAD', 'LIST', 'WATCH'])
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
