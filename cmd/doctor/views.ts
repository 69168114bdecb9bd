import { problemOf, problemOfCode } from '../../framework/net/failure.ts'
import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { onlyOfStart } from '../flags/servedviews.ts'
import { type Finding, failed, ok, skipped, warning } from './finding.ts'
import { isTrusted, jsonOf, type ProbeResponse, probe } from './probe.ts'
import { certificateFinding } from './server.ts'

interface List<T> {
  readonly items: readonly T[]
}
interface Shard {
  readonly metadata: { readonly name: string }
  readonly spec?: { readonly virtualWorkspaceURL?: string }
}
interface Slice {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly status?: { readonly endpoints?: readonly { readonly url: string }[] }
}

/** An advertised URL of views, and its shard. */
export interface Advertised {
  readonly shard: string
  readonly url: string
}

/** The view URLs in the Shard objects. */
export async function advertisedViews(access: ServerAccess): Promise<readonly Advertised[]> {
  const { origin } = new URL(access.server)
  const seen = await probe(access, `${origin}/clusters/root/apis/core.kcp.io/v1alpha1/shards`)
  return (jsonOf<List<Shard>>(seen).items ?? []).flatMap(({ metadata, spec }) =>
    spec?.virtualWorkspaceURL
      ? [{ shard: metadata.name, url: spec.virtualWorkspaceURL.replace(/\/+$/, '') }]
      : [],
  )
}

const setting = '--shard-virtual-workspace-url of the shard'

/** Checks that the advertised URLs are reachable, trusted and ready. */
export async function viewsFindings(
  access: ServerAccess,
  { shard, url }: Advertised,
): Promise<readonly Finding[]> {
  const where = `views of ${shard}`
  try {
    const seen = await probe(access, url + everyView)
    return [
      answered(where, url, seen),
      certificateFinding(where, url, seen, setting),
      ...(await readiness(access, where, url)),
    ]
  } catch (error) {
    const { reason, change } = problemOf(error, setting)
    return [failed(where, `${url} is advertised: ${reason}`, change)]
  }
}

const versions = '/apis/core.kcp.io/v1alpha1'

/** A path that every process of views serves, even without initializers. */
export const everyView = `/services/initializingworkspaces/doctor:doctor/clusters/*${versions}`

function answered(where: string, url: string, seen: ProbeResponse): Finding {
  if (seen.status === 401)
    return failed(
      where,
      `${url} rejects credentials that the shard accepts`,
      'give it the shard’s --client-ca-file, and a kubeconfig for token reviews',
    )
  return isOfViews(seen)
    ? ok(where, `${url} serves views`)
    : failed(where, `${url} does not serve views: it responds with ${seen.status}`, `correct ${setting}`)
}

/** Whether a response is that of a view: only views serve this path, and the message of their 403 has the view's resource. */
function isOfViews(seen: ProbeResponse): boolean {
  const { message = '', groupVersion, resources = [] } = jsonOf<Discovered>(seen)
  if (seen.status === 403) return message.includes(` path "${versions}": `)
  if (seen.status === 503) return message.endsWith('virtual workspace controllers are not started')
  return versions.endsWith(`/${groupVersion}`) && resources.some(({ name }) => name === 'logicalclusters')
}

interface Discovered {
  readonly message: string
  readonly groupVersion: string
  readonly resources: readonly { readonly name: string }[]
}

async function readiness(access: ServerAccess, where: string, url: string): Promise<readonly Finding[]> {
  const { status, text } = await probe(access, `${new URL(url).origin}/readyz?verbose`)
  if (status === 200) return [ok(where, 'all views are ready'), ...servedBy(where, text)]
  const waiting = [...text.matchAll(/^\[-\](\S+)/gm)].map(([, name]) => name).join(', ')
  const change = 'read its log: it names each unreachable server once'
  return [warning(where, `not ready: ${waiting || `it responds with ${status}`}`, change)]
}

const otherChecks = new Set(['ping', 'shutdown', 'shard'])

/** The names of the views, which are health checks. */
function servedBy(where: string, text: string): readonly Finding[] {
  const names = [...text.matchAll(/^\[\+\](\S+)/gm)].flatMap(([, name]) => name ?? [])
  const views = names.filter(name => !otherChecks.has(name))
  return views.length === 0 ? [] : [ok(where, `it serves ${views.join(', ')}${withoutThe(views)}`)]
}

/** The views that only `oriel start` serves, with the reason. */
function withoutThe(views: readonly string[]): string {
  const missing = Object.entries(onlyOfStart).filter(([name]) => !views.includes(name))
  return missing.map(([name, why]) => `; not ${name}, because ${why}`).join('')
}

/** Checks that the URLs in endpoint slices begin with an advertised URL, and are served. */
export async function publishedFindings(
  access: ServerAccess,
  advertised: readonly Advertised[],
): Promise<readonly Finding[]> {
  const { origin } = new URL(access.server)
  const slices = await probe(access, `${origin}/clusters/*/apis/apis.kcp.io/v1alpha1/apiexportendpointslices`)
  if (slices.status !== 200)
    return [skipped('published URLs', `endpoint slices cannot be read: ${slices.status}`)]
  const items = jsonOf<List<Slice>>(slices).items ?? []
  const published = items.flatMap(({ metadata, status }) =>
    (status?.endpoints ?? []).map(({ url }) => ({ url, name: metadata.name })),
  )
  if (published.length === 0) return [skipped('published URLs', 'there are none: no APIExport is bound')]
  const findings = await Promise.all(published.map(each => publishedFinding(access, advertised, each)))
  const wrong = findings.filter(finding => finding !== undefined)
  return wrong.length > 0 ? wrong : [ok('published URLs', `${published.length} are served`)]
}

async function publishedFinding(
  access: ServerAccess,
  advertised: readonly Advertised[],
  { url, name }: { readonly url: string; readonly name: string },
): Promise<Finding | undefined> {
  const check = 'published URLs'
  if (!advertised.some(base => url.startsWith(`${base.url}/`)))
    return failed(
      check,
      `${name} lists ${url}, which no shard advertises`,
      `correct ${setting}, or remove the outdated URL from the status of the endpoint slice`,
    )
  try {
    const { status, certificate } = await probe(access, `${url}/clusters/*/apis`)
    if (status === 200) return undefined
    if (!isTrusted(access, certificate)) {
      const { reason, change } = problemOfCode(certificate.problem ?? '', setting)
      return failed(check, `${name} lists ${url}: ${reason}`, change)
    }
    return failed(
      check,
      `${name} lists ${url}, which responds with ${status}`,
      'check that the views are ready',
    )
  } catch (error) {
    const { reason, change } = problemOf(error, setting)
    return failed(check, `${name} lists ${url}: ${reason}`, change)
  }
}
