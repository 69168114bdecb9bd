import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ResourceRequest } from './requestinfo.ts'

/** What is counted about a request. Never a cluster, a user or a name: the number of series must not follow the tenants. */
export interface Measured {
  /** Absent for discovery, health and everything else that is no resource, and for resources that are not served. */
  readonly resource?: ResourceRequest
  readonly method: string
  /** From `process.hrtime.bigint()`. */
  readonly since: bigint
}

/** The server's own measurements in Prometheus' text format (chapter 40, section 8.7). The only file that knows the package. */
export interface Metrics {
  /** A request is under way; returns what is called once at its end. */
  started(measured: Measured): (code: number) => void
  /** Events have been handed to a watcher. */
  watchEvents(resource: ResourceRequest, count: number): void
  text(): Promise<{ readonly contentType: string; readonly body: string }>
}

/** Tenants name resources, so only so many are told apart; the rest is counted together as `other`. */
const mostResources = 200
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

type Labels = Record<string, string>

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const meters = createMeters(registry)
  const resources = new Set<string>()
  const bounded = (request: ResourceRequest): Labels => {
    const { group, version, resource } = request
    const key = `${group}/${version}/${resource}`
    if (resources.size < mostResources) resources.add(key)
    return resources.has(key) ? { group, version, resource } : { group: '', version: '', resource: 'other' }
  }
  return {
    started: measured => start(meters, measured, bounded),
    watchEvents: (request, count) => meters.events.inc(bounded(request), count),
    text: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  }
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

function start(
  meters: Meters,
  { resource, method, since }: Measured,
  bounded: (r: ResourceRequest) => Labels,
) {
  const names = resource === undefined ? { group: '', version: '', resource: '' } : bounded(resource)
  const verb = resource === undefined ? method : labelOf(resource)
  const scope = resource === undefined ? '' : scopeOf(resource)
  const isLong = resource?.verb === 'watch'
  const gauge = isLong
    ? meters.longrunning.labels({ verb, scope, ...names })
    : meters.inflight.labels({ request_kind: reading.has(verb) ? 'readOnly' : 'mutating' })
  gauge.inc()
  return (code: number): void => {
    gauge.dec()
    const subresource = names.resource === 'other' ? '' : (resource?.subresource ?? '')
    const more = { dry_run: '', component: 'apiserver' }
    meters.requests.inc({ verb, scope, subresource, code: String(code), ...names, ...more })
    if (!isLong) meters.seconds.observe({ verb, scope }, Number(process.hrtime.bigint() - since) / 1e9)
  }
}

const reading = new Set(['GET', 'HEAD', 'LIST', 'WATCH'])
const labels: Readonly<Record<ResourceRequest['verb'], string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
}
const labelOf = (request: ResourceRequest): string => labels[request.verb]

function scopeOf({ name, namespace, resource }: ResourceRequest): string {
  if (name !== '') return 'resource'
  return namespace !== '' && resource !== 'namespaces' ? 'namespace' : 'cluster'
}
