import type { Series, ViewSeries } from './durations.ts'
import type { MeterDefinition, MetricRecorder } from './meter.ts'

/** A metric that is computed from the series when it is read. */
export interface ReadMeter<T> extends Pick<MeterDefinition, 'name' | 'help' | 'labels'> {
  readonly kind: 'counter' | 'gauge'
  read(series: T, add: MetricRecorder): void
}

const resourceLabels = ['group', 'version', 'resource'] as const
const reading = new Set(['GET', 'HEAD', 'LIST', 'WATCH'])

/** The metrics of all requests. */
export const requestMeters: readonly ReadMeter<Series>[] = [
  {
    kind: 'counter',
    name: 'apiserver_request_total',
    help: 'Requests by verb, resource and code.',
    labels: ['verb', ...resourceLabels, 'subresource', 'scope', 'code', 'dry_run', 'component'],
    read({ labels, codes }, add) {
      for (const [code, count] of codes)
        add({ ...labels, code: String(code), dry_run: '', component: 'apiserver' }, count)
    },
  },
  {
    kind: 'gauge',
    name: 'apiserver_current_inflight_requests',
    help: 'Requests that are being answered, without long-running ones.',
    labels: ['request_kind'],
    read({ labels: { verb }, running }, add) {
      if (verb !== 'WATCH') add({ request_kind: reading.has(verb) ? 'readOnly' : 'mutating' }, running)
    },
  },
  {
    kind: 'gauge',
    name: 'apiserver_longrunning_requests',
    help: 'Open watches.',
    labels: ['verb', ...resourceLabels, 'scope'],
    read({ labels, running }, add) {
      const { subresource: _, ...others } = labels
      if (labels.verb === 'WATCH') add(others, running)
    },
  },
  {
    kind: 'counter',
    name: 'apiserver_watch_events_total',
    help: 'Events handed to watchers.',
    labels: resourceLabels,
    read({ labels: { verb, group, version, resource }, events }, add) {
      if (verb === 'WATCH') add({ group, version, resource }, events)
    },
  },
]

/** Of a server whose lists are answered from a watch cache. */
export const cacheLists: ReadMeter<Series> = {
  kind: 'counter',
  name: 'apiserver_cache_list_total',
  help: 'Number of LIST requests served from watch cache',
  labels: ['group', 'index', 'resource'],
  read({ labels: { verb, group, resource }, codes }, add) {
    const count = codes.get(200) ?? 0
    if (verb === 'LIST' && count > 0) add({ group, index: '', resource }, count)
  },
}

/** The metrics of views, of which the operator configures as many as there are. */
export const viewMeters: readonly ReadMeter<ViewSeries>[] = [
  {
    kind: 'counter',
    name: 'oriel_view_requests_total',
    help: 'Requests to views by code, also those that were refused.',
    labels: ['view', 'code'],
    read({ view, codes }, add) {
      for (const [code, count] of codes) add({ view, code: String(code) }, count)
    },
  },
  {
    kind: 'counter',
    name: 'oriel_view_request_seconds_total',
    help: 'Time from the request line to the end of the response, of all requests to views but watches.',
    labels: ['view'],
    read: ({ view, seconds }, add) => add({ view }, seconds),
  },
  {
    kind: 'gauge',
    name: 'oriel_view_watches',
    help: 'Open watches of views.',
    labels: ['view'],
    read: ({ view, watchers }, add) => add({ view }, watchers),
  },
  {
    kind: 'counter',
    name: 'oriel_view_watch_events_total',
    help: 'Events that were sent to watches of views.',
    labels: ['view'],
    read: ({ view, events }, add) => add({ view }, events),
  },
  {
    kind: 'counter',
    name: 'oriel_view_sent_bytes_total',
    help: 'Bytes of the bodies of responses of views, as they were sent.',
    labels: ['view'],
    read: ({ view, bytes }, add) => add({ view }, bytes),
  },
]
