import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { readFlagPair } from '../files/files.ts'
import { StartError } from '../files/starterror.ts'
import { lineText, print } from '../files/terminaltext.ts'
import { type ConnectionFlags, connectionOf } from '../flags/connection.ts'
import { withProgress } from '../process/progress.ts'
import { type Finding, failed } from './finding.ts'
import { gateFindings } from './gates.ts'
import { headerFindings, type ProxyCertificate } from './headers.ts'
import { rightsFindings } from './rights.ts'
import { serverFindings } from './server.ts'
import { throttlingFindings } from './throttling.ts'
import { advertisedViews, publishedFindings, viewsFindings } from './views.ts'

/** The flags of `oriel doctor`. */
export interface DoctorOptions extends ConnectionFlags {
  readonly clientCertFile?: string
  readonly clientKeyFile?: string
  readonly output: 'text' | 'json'
}

/** Runs the checks and prints the results with remedies. Returns the exit code: 1 when a check failed. */
export async function doctor(options: DoctorOptions): Promise<number> {
  const findings: Finding[] = []
  for await (const found of examine(options)) {
    findings.push(...found)
    if (options.output === 'text') print(found.map(lineOf).join(''))
  }
  if (options.output === 'json') print(`${JSON.stringify(findings, undefined, 2)}\n`)
  return findings.some(({ status }) => status === 'failed') ? 1 : 0
}

const marks = { ok: ' ok ', warning: 'warn', failed: 'FAIL', skipped: ' -  ' } as const

function lineOf({ status, check, message, change }: Finding): string {
  const line = `[${marks[status]}] ${lineText(`${check}: ${message}`)}\n`
  return change === undefined || status === 'ok' ? line : `${line}       -> ${lineText(change)}\n`
}

/** Runs the checks in order; checks that depend on a failed one are skipped. */
async function* examine(options: DoctorOptions): AsyncGenerator<readonly Finding[]> {
  const proxyCertificate = await proxyCertificateOf(options)
  let access: ServerAccess
  try {
    access = await accessOf(options)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    yield [failed('kubeconfig', error.message, 'give another --kubeconfig or --context')]
    return
  }
  const server = await withProgress('The server', () => serverFindings(access))
  yield server
  if (server.some(({ status }) => status === 'failed')) return
  yield await withProgress('Rights', () => rightsFindings(access))
  yield await withProgress('Feature gates', () => gateFindings(access))
  yield await withProgress('Fair shares', () => throttlingFindings(access))
  const advertised = await advertisedViews(access)
  if (advertised.length === 0)
    yield [
      failed(
        'views',
        'no Shard has spec.virtualWorkspaceURL, or Shards cannot be read',
        'set --shard-virtual-workspace-url of the shard',
      ),
    ]
  for (const views of advertised) {
    const found = await withProgress(lineText(views.url), () => viewsFindings(access, views))
    yield found
    if (found.length > 1)
      yield await withProgress('Identity headers', () => headerFindings(access, views.url, proxyCertificate))
  }
  yield await withProgress('Published URLs', () => publishedFindings(access, advertised))
}

/**
 * The context `shard-base` if the kubeconfig has it, as the admin kubeconfigs of kcp and Oriel do: the permissions of their
 * current context are not sufficient for views.
 */
async function accessOf(options: DoctorOptions): Promise<ServerAccess> {
  if (options.context !== undefined) return connectionOf(options)
  try {
    return await connectionOf({ ...options, context: 'shard-base' })
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return connectionOf(options)
  }
}

async function proxyCertificateOf({
  clientCertFile,
  clientKeyFile,
}: DoctorOptions): Promise<ProxyCertificate | undefined> {
  const pair = await readFlagPair(
    { flag: '--client-cert-file', path: clientCertFile },
    { flag: '--client-key-file', path: clientKeyFile },
  )
  if (pair === undefined) return undefined
  const [cert, key] = pair
  return { cert, key }
}
