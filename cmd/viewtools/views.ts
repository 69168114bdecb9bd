import { createClient } from '../../framework/net/client.ts'
import { problemOf } from '../../framework/net/failure.ts'
import { fetchText } from '../../framework/net/fetch.ts'
import { authorizationOf, type ServerAccess, tlsOf } from '../../framework/net/serveraccess.ts'
import { columnsText } from '../files/columns.ts'
import { StartError } from '../files/starterror.ts'
import { print } from '../files/terminaltext.ts'
import { type ConnectionFlags, connectionOf } from '../flags/connection.ts'
import { samplesOf } from './samples.ts'
import { reportsOf, type ViewReport } from './viewreport.ts'

export interface ViewsOptions extends ConnectionFlags {
  readonly output: 'text' | 'json'
}

/** `oriel views`. Throws `StartError` when the metrics of the server cannot be read. */
export async function printViews(options: ViewsOptions): Promise<void> {
  const access = await connectionOf(options)
  const reports = reportsOf(samplesOf(await metricsOf(access), 'oriel_view_'))
  print(options.output === 'json' ? `${JSON.stringify(reports, undefined, 2)}\n` : tableOf(reports))
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
