import type { DiscoveredGroup } from '../../framework/discovery/discovered.ts'
import { jsonIn } from '../../framework/net/bodies.ts'
import { createClient, type HttpClient } from '../../framework/net/client.ts'
import { problemOf } from '../../framework/net/failure.ts'
import { fetchText } from '../../framework/net/fetch.ts'
import { authorizationOf, type ServerAccess, tlsOf } from '../../framework/net/serveraccess.ts'
import { columnsText } from '../files/columns.ts'
import { StartError } from '../files/starterror.ts'
import { print, printError } from '../files/terminaltext.ts'
import { type ConnectionFlags, connectionOf } from '../flags/connection.ts'
import { pathOf } from './resourcepath.ts'
import { warningsIn } from './warnings.ts'
import { printChanges } from './watch.ts'

export interface QueryCommandOptions extends ConnectionFlags {
  readonly workspace: string
  readonly namespace?: string
  readonly selector?: string
  readonly orderBy?: string
  readonly limit?: number
  readonly watch?: boolean
  readonly output: 'table' | 'json'
}

/** `oriel query`. Throws `StartError` when the server refuses the query. */
export async function printQuery(
  where: string,
  resource: string,
  options: QueryCommandOptions,
): Promise<void> {
  const access = await connectionOf(options)
  const client = createClient({ tls: tlsOf(access), headers: { ...authorizationOf(access) } })
  const server = new QueriedServer(client, access)
  try {
    const base = `/services/query/clusters/${clusterSegment(options)}`
    const groups = (await Promise.all(['/api', '/apis'].map(path => server.discovered(base + path)))).flat()
    const path = pathOf(groups, resource, options.namespace)
    if (path === undefined)
      throw new StartError(`The server has no resource ${JSON.stringify(resource)} that you can list.`)
    const query = searchOf(where, options)
    if (options.watch) await printChanges(`${base}${path}?${query}`, options)
    else await printPages(server, `${base}${path}`, query, options)
  } finally {
    await client.destroy()
  }
}

/** URLs of views have names of logical clusters: a path of several workspaces is a part of the question. */
const isWorkspacePath = ({ workspace }: QueryCommandOptions): boolean => workspace.includes(':')

const clusterSegment = (options: QueryCommandOptions): string =>
  isWorkspacePath(options) ? '*' : encodeURIComponent(options.workspace).replace('%2A', '*')

function searchOf(where: string, options: QueryCommandOptions): URLSearchParams {
  const { selector, orderBy, limit, workspace } = options
  const search = new URLSearchParams()
  const inWorkspace = isWorkspacePath(options) ? `cluster.path == ${JSON.stringify(workspace)}` : ''
  const all = [inWorkspace, where].filter(each => each !== '')
  if (all.length > 0)
    search.set('where', all.length === 1 ? where || inWorkspace : `${inWorkspace} && (${where})`)
  if (selector !== undefined) search.set('labelSelector', selector)
  if (orderBy !== undefined) search.set('orderBy', orderBy)
  search.set('limit', String(limit ?? 500))
  return search
}

/** One page, or all pages without `--limit`. */
async function printPages(
  server: QueriedServer,
  path: string,
  search: URLSearchParams,
  { output, limit }: QueryCommandOptions,
): Promise<void> {
  const pages: QueryPage[] = []
  do {
    const page = await server.get(`${path}?${search}`, accepts[output])
    pages.push(page)
    search.set('continue', page.metadata?.continue ?? '')
  } while (limit === undefined && search.get('continue') !== '')
  print(output === 'json' ? jsonText(pages) : tableText(pages))
}

const accepts = {
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  json: 'application/json',
  discovery: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
}

/** A list or a Table. */
interface QueryPage {
  readonly metadata?: { readonly continue?: string }
  readonly items?: readonly unknown[]
  readonly columnDefinitions?: readonly { readonly name: string; readonly priority: number }[]
  readonly rows?: readonly {
    readonly cells: readonly unknown[]
    readonly object?: { readonly metadata?: { readonly namespace?: string } }
  }[]
  readonly message?: string
}

const jsonText = (pages: readonly QueryPage[]): string =>
  `${JSON.stringify({ ...pages[0], metadata: {}, items: pages.flatMap(({ items = [] }) => items) }, undefined, 2)}\n`

/** The columns of priority 0, with the namespaces before them. */
function tableText(pages: readonly QueryPage[]): string {
  const all = pages[0]?.columnDefinitions ?? []
  const shown = all.flatMap(({ priority }, i) => (priority === 0 ? [i] : []))
  const rows = pages.flatMap(({ rows = [] }) => rows)
  const isNamespaced = rows.some(({ object }) => object?.metadata?.namespace !== undefined)
  const head = shown.map(i => (all[i]?.name ?? '').toUpperCase())
  const cells = rows.map(({ cells, object }) => [
    ...(isNamespaced ? [object?.metadata?.namespace ?? ''] : []),
    ...shown.map(i => String(cells[i] ?? '<none>')),
  ])
  if (cells.length === 0) return 'No objects found.\n'
  return columnsText([[...(isNamespaced ? ['NAMESPACE'] : []), ...head], ...cells])
}

const limits = { timeout: 60_000, bytes: 256 * 1024 * 1024 }

class QueriedServer {
  readonly #client: HttpClient
  readonly #origin: string
  readonly #printed = new Set<string>()

  constructor(client: HttpClient, { server }: ServerAccess) {
    this.#client = client
    this.#origin = new URL(server).origin
  }

  async discovered(path: string): Promise<readonly DiscoveredGroup[]> {
    return (await this.get(path, accepts.discovery)).items as readonly DiscoveredGroup[]
  }

  async get(path: string, accept: string): Promise<QueryPage> {
    const failed = (why: string) => new StartError(`The query failed: ${why}.`)
    const request = { origin: this.#origin, path, headers: { accept } }
    const { status, text, headers } = await fetchText(this.#client, request, limits).catch(error => {
      throw failed(problemOf(error, '').reason)
    })
    this.#print(warningsIn(headers.warning))
    const body = jsonIn(text) as QueryPage | undefined
    if (status !== 200 || body === undefined)
      throw failed(body?.message ?? `the server responded with status ${status}`)
    return body
  }

  /** Each warning once, like kubectl. */
  #print(warnings: readonly string[]): void {
    for (const text of warnings) if (!this.#printed.has(text)) printError(`Warning: ${text}`)
    for (const text of warnings) this.#printed.add(text)
  }
}
