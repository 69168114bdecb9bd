// Writes deploy/chart/files/dashboard.json, a dashboard of Grafana, from the panels below: npm run dashboard
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const rate = (metric, labels = '') => `rate(${metric}{job="$job"${labels}}[$__rate_interval])`
const perSecond = (metric, by, labels) => `sum by (${by}) (${rate(metric, labels)})`
const quantile = (q, metric, by = '', labels = '') =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (${rate(`${metric}_bucket`, labels)}))`
const value = metric => `${metric}{job="$job"}`

const duration = 'apiserver_request_duration_seconds'
const noWatch = ', verb!="WATCH"'

/** Rows of panels: title, unit of Grafana, and a query for each legend. */
const rows = {
  Requests: [
    ['Requests', 'reqps', { '{{verb}}': perSecond('apiserver_request_total', 'verb') }],
    [
      'Errors',
      'reqps',
      { '{{code}} {{verb}}': perSecond('apiserver_request_total', 'code, verb', ', code=~"4..|5.."') },
    ],
    ['Latency, 99th percentile', 's', { '{{verb}}': quantile(0.99, duration, 'verb', noWatch) }],
    [
      'Busiest resources',
      'reqps',
      { '{{resource}}': `topk(10, ${perSecond('apiserver_request_total', 'resource')})` },
    ],
    ['Requests in progress', 'short', { '{{request_kind}}': value('apiserver_current_inflight_requests') }],
    [
      'Watches',
      'short',
      { '{{resource}}': `topk(10, sum by (resource) (${value('apiserver_longrunning_requests')}))` },
    ],
    [
      'Watch events',
      'short',
      { '{{resource}}': `topk(10, ${perSecond('apiserver_watch_events_total', 'resource')})` },
    ],
    [
      'Lists from the watch cache',
      'reqps',
      { '{{resource}}': `topk(10, ${perSecond('apiserver_cache_list_total', 'resource')})` },
    ],
  ],
  'Fair shares': [
    [
      'Seats in use',
      'short',
      { '{{priority_level}}': value('apiserver_flowcontrol_current_executing_requests') },
    ],
    ['Seats', 'short', { '{{priority_level}}': value('apiserver_flowcontrol_nominal_limit_seats') }],
    [
      'Requests in the queue',
      'short',
      { '{{priority_level}}': value('apiserver_flowcontrol_current_inqueue_requests') },
    ],
    [
      'Wait for a seat, 99th percentile',
      's',
      { '': quantile(0.99, 'apiserver_flowcontrol_request_wait_duration_seconds') },
    ],
    [
      'Refused requests',
      'reqps',
      { '{{reason}}': perSecond('apiserver_flowcontrol_rejected_requests_total', 'reason') },
    ],
    [
      'Requests that wait for their client',
      'short',
      { '': value('apiserver_flowcontrol_current_stalled_requests') },
    ],
  ],
  Process: [
    ['Processor', 'percentunit', { '{{instance}}': perSecond('process_cpu_seconds_total', 'instance') }],
    [
      'Memory',
      'bytes',
      { resident: value('process_resident_memory_bytes'), heap: value('nodejs_heap_size_used_bytes') },
    ],
    [
      'Delay of the event loop, 99th percentile',
      's',
      { '{{instance}}': value('nodejs_eventloop_lag_p99_seconds') },
    ],
    [
      'Event loop held by one request, 99th percentile',
      's',
      { '{{verb}}': quantile(0.99, 'oriel_request_event_loop_hold_seconds', 'verb') },
    ],
    ['Free disk space of the store', 'bytes', { '{{instance}}': value('oriel_store_disk_free_bytes') }],
    ['Open files', 'short', { '{{instance}}': value('process_open_fds') }],
  ],
}

const [width, height] = [8, 7]

function panel([title, unit, queries], index, top) {
  const targets = Object.entries(queries).map(([legendFormat, expr], i) => ({
    refId: String.fromCharCode(65 + i),
    expr,
    legendFormat,
  }))
  return {
    type: 'timeseries',
    title,
    datasource: { type: 'prometheus', uid: '$datasource' },
    gridPos: { x: (index % 3) * width, y: top + Math.floor(index / 3) * height, w: width, h: height },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets,
  }
}

function panels() {
  const made = []
  let top = 0
  for (const [title, list] of Object.entries(rows)) {
    made.push({ type: 'row', title, collapsed: false, gridPos: { x: 0, y: top, w: 24, h: 1 }, panels: [] })
    made.push(...list.map((each, i) => panel(each, i, top + 1)))
    top += 1 + Math.ceil(list.length / 3) * height
  }
  return made.map((each, i) => ({ id: i + 1, ...each }))
}

const variable = (name, more) => ({ name, hide: 0, ...more })

/** The dashboard as text. */
export const renderDashboard = () =>
  `${JSON.stringify(
    {
      uid: 'oriel',
      title: 'Oriel',
      tags: ['oriel'],
      schemaVersion: 39,
      timezone: 'utc',
      refresh: '30s',
      time: { from: 'now-1h', to: 'now' },
      templating: {
        list: [
          variable('datasource', { type: 'datasource', query: 'prometheus' }),
          variable('job', {
            type: 'query',
            datasource: { type: 'prometheus', uid: '$datasource' },
            query: {
              query:
                'label_values(apiserver_flowcontrol_nominal_limit_seats{priority_level="readOnly"}, job)',
              refId: 'job',
            },
          }),
        ],
      },
      panels: panels(),
    },
    undefined,
    2,
  )}\n`

/** Relative to the repository. */
export const dashboard = 'deploy/chart/files/dashboard.json'

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(join(fileURLToPath(new URL('..', import.meta.url)), dashboard), renderDashboard())
