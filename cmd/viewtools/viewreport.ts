import type { Sample } from './samples.ts'

/** A view of a server, and its requests since the start. */
export interface ViewReport {
  readonly view: string
  /** The pattern of its path. */
  readonly path: string
  /** '' if it is ready; `starting`: its controllers are not ready; `failing`: it failed in the last minute. */
  readonly notReady: string
  readonly requests: number
  /** Responses with 403, 429 and 503. */
  readonly refused: number
  /** Responses with 500 and above, without 503. */
  readonly errors: number
  readonly watches: number
  readonly events: number
  readonly bytes: number
  /** Milliseconds of a request on average, without watches. */
  readonly milliseconds: number
  /** Of an isolated view: the bytes of its process, and how often it was started again. */
  readonly process?: { readonly memory: number; readonly restarts: number }
}

/** The views in the metrics of a server, by name. */
export function reportsOf(samples: readonly Sample[]): readonly ViewReport[] {
  const ready = samples.filter(({ name }) => name === 'oriel_view_ready')
  const views = ready.map(({ labels }) => {
    const own = samples.filter(each => each.labels.view === labels.view)
    return reportOf(labels, own)
  })
  return views.sort((a, b) => (a.view < b.view ? -1 : 1))
}

function reportOf(
  { view = '', path = '', reason = '' }: Readonly<Record<string, string>>,
  own: readonly Sample[],
): ViewReport {
  const sum = (name: string, matches: (code: number) => boolean = () => true): number =>
    own
      .filter(each => each.name === name && matches(Number(each.labels.code)))
      .reduce((total, { value }) => total + value, 0)
  const requests = sum('oriel_view_requests_total')
  const seconds = sum('oriel_view_request_seconds_total')
  const starts = sum('oriel_view_process_starts_total')
  return {
    view,
    path,
    notReady: reason,
    requests,
    refused: sum('oriel_view_requests_total', code => refusals.has(code)),
    errors: sum('oriel_view_requests_total', code => code >= 500 && !refusals.has(code)),
    watches: sum('oriel_view_watches'),
    events: sum('oriel_view_watch_events_total'),
    bytes: sum('oriel_view_sent_bytes_total'),
    milliseconds: requests === 0 ? 0 : Math.round((seconds * 10_000) / requests) / 10,
    ...(starts > 0 && {
      process: { memory: sum('oriel_view_process_resident_memory_bytes'), restarts: starts - 1 },
    }),
  }
}

const refusals: ReadonlySet<number> = new Set([403, 429, 503])
