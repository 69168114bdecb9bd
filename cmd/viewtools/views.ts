import { createClient, fetchText } from '../../framework/net/client.ts'
import { problemOf } from '../../framework/net/failure.ts'
import { authorizationOf, type ServerAccess, tlsOf } from '../../framework/net/serveraccess.ts'
import { StartError } from '../files/starterror.ts'
import { type ConnectionFlags, connectionOf } from '../flags/connection.ts'
import { columnsText } from './columns.ts'
import { type Sample, samplesOf } from './samples.ts'

export interface ViewsOptions extends ConnectionFlags {
  readonly output: 'text' | 'json'
}

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

/** `oriel views`. Throws `StartError` when the metrics of the server cannot be read. */
export async function printViews(options: ViewsOptions): Promise<void> {
  const access = await connectionOf(options)
  const reports = reportsOf(samplesOf(await metricsOf(access), 'oriel_view_'))
  process.stdout.write(
    options.output === 'json' ? `${JSON.stringify(reports, undefined, 2)}\n` : tableOf(reports),
  )
}

const limits = { timeout: 30_000, bytes: 64 * 1024 * 1024 }

async function metricsOf(access: ServerAccess): Promise<string> {
  const { origin } = new URL(access.server)
  const client = createClient({ tls: tlsOf(access), headers: { ...authorizationOf(access) } })
  const failed = (why: string) => new StartError(`Reading the metrics of ${origin} failed: ${why}.`)
  try {
    const { status, text } = await fetchText(client, { origin, path: '/metrics' }, limits).catch(error => {
      throw failed(problemOf(error, '').reason)
    })
    if (status === 401 || status === 403)
      throw failed('the user of the kubeconfig may not get /metrics; use that of an administrator')
    if (status !== 200) throw failed(`the server responded with status ${status}`)
    return text
  } finally {
    await client.destroy()
  }
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
    ...{ view, path, notReady: reason, requests },
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

const head = [
  'VIEW',
  'PATH',
  'READY',
  'REQUESTS',
  'REFUSED',
  'ERRORS',
  'WATCHES',
  'EVENTS',
  'BYTES',
  'MS',
  'PROCESS',
]

function processOf({ process }: ViewReport): string {
  if (process === undefined) return '-'
  const { memory, restarts } = process
  const again = restarts === 0 ? '' : `, ${restarts} restart${restarts === 1 ? '' : 's'}`
  return `${Math.round(memory / 2 ** 20)} MiB${again}`
}

/** The reports as a table with aligned columns. */
export function tableOf(reports: readonly ViewReport[]): string {
  const rows = reports.map(each => [
    each.view,
    each.path,
    each.notReady === '' ? 'yes' : `no: ${each.notReady}`,
    ...[
      each.requests,
      each.refused,
      each.errors,
      each.watches,
      each.events,
      each.bytes,
      each.milliseconds,
    ].map(String),
    processOf(each),
  ])
  return columnsText([head, ...rows])
}
