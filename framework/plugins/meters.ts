import type { Metrics } from '../metrics/metrics.ts'

/** The metrics of the views of plugins, with the view as label: the operator has configured them. */
export interface PluginMeters {
  /** A member failed, or `background`: an error outside of a request. */
  failed(view: string, member: string): void
  /** A request got 503, because the view keeps failing. */
  refused(view: string): void
  /** The view kept the server from doing anything else for so many seconds. */
  blocked(view: string, seconds: number): void
  /** `open`: the logical clusters in which the view is not called. */
  observe(view: string, open: () => number): void
}

export function createPluginMeters(metrics: Metrics): PluginMeters {
  const open = new Map<string, () => number>()
  const failures = metrics.meter({
    kind: 'counter',
    name: 'oriel_view_failures_total',
    help: 'Failures of views of plugins, by member; "background" outside of requests.',
    labels: ['view', 'member'],
  })
  const refused = metrics.meter({
    kind: 'counter',
    name: 'oriel_view_refused_requests_total',
    help: 'Requests that got 503, because the view of a plugin keeps failing.',
    labels: ['view'],
  })
  const blocked = metrics.meter({
    kind: 'counter',
    name: 'oriel_view_blocked_seconds_total',
    help: 'Time in which a view of a plugin kept the server from doing anything else, in calls of 100 ms or more.',
    labels: ['view'],
  })
  metrics.meter({
    kind: 'gauge',
    name: 'oriel_view_open_breakers',
    help: 'Logical clusters for which a view of a plugin is not called, because it keeps failing.',
    labels: ['view'],
    collect: set => {
      for (const [view, count] of open) set({ view }, count())
    },
  })
  return {
    failed: (view, member) => failures({ view, member }, 1),
    refused: view => refused({ view }, 1),
    blocked: (view, seconds) => blocked({ view }, seconds),
    observe: (view, count) => void open.set(view, count),
  }
}
