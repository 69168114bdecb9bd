import { type JsonClient, jsonClient } from '../framework/net/jsonclient.ts'
import { isClusterPath } from '../framework/request/path.ts'
import { exportedResources, resourcePath } from '../kcp/resources.ts'
import { StartError } from './files/starterror.ts'
import { lineText, print } from './files/terminaltext.ts'
import { type ConnectionFlags, connectionOf } from './flags/connection.ts'

/** `oriel tree`: prints the workspaces below a workspace. Throws `StartError` when they cannot be listed. */
export async function tree(options: ConnectionFlags): Promise<void> {
  const connection = await connectionOf(options)
  const { origin, pathname } = new URL(connection.server)
  const path = decodeURIComponent(/^\/clusters\/([^/]+)$/.exec(pathname)?.[1] ?? '')
  if (!isClusterPath(path))
    throw new StartError(
      `${connection.server} is not the URL of a workspace: give --server a URL such as https://localhost:6443/clusters/root.`,
    )
  const client = jsonClient({ ...connection, server: origin })
  const below = await childrenOf(client, path)
  if (typeof below === 'string') throw new StartError(`Listing the workspaces of ${path} failed: ${below}.`)
  print([path, ...(await linesOf(client, path, below)), ''].join('\n'))
}

interface Workspace {
  readonly metadata: { readonly name: string }
  readonly spec?: { readonly URL?: string; readonly mount?: { readonly type?: string } }
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly { readonly status: string; readonly message?: string }[]
  }
}

interface Answer {
  readonly items?: readonly Workspace[]
  readonly message?: string
}

/** The workspaces sorted by name, or the reason why they cannot be listed. */
async function childrenOf(client: JsonClient, path: string): Promise<readonly Workspace[] | string> {
  const asked = client(resourcePath(path, exportedResources.workspaces))
  const { status, body } = await asked.catch(error => ({ status: 0, body: { message: String(error) } }))
  const { items, message = `the server responded with status ${status}` } = (body ?? {}) as Answer
  return status === 200 && items !== undefined ? items : message
}

async function linesOf(
  client: JsonClient,
  path: string,
  children: readonly Workspace[],
): Promise<readonly string[]> {
  const branches = await Promise.all(
    children.map(async child => {
      const below = await belowOf(client, `${path}:${child.metadata.name}`, child)
      return [lineText(labelOf(child)), ...below]
    }),
  )
  return branches.flatMap(([label = '', ...below], i) => {
    const isLast = i === branches.length - 1
    return [`${isLast ? '└── ' : '├── '}${label}`, ...below.map(line => `${isLast ? '    ' : '│   '}${line}`)]
  })
}

/** Empty for a mount, and for a workspace that the user may not list. */
async function belowOf(client: JsonClient, path: string, { spec }: Workspace): Promise<readonly string[]> {
  if (spec?.mount !== undefined) return []
  const children = await childrenOf(client, path)
  return typeof children === 'string' ? [] : linesOf(client, path, children)
}

const kinds: Readonly<Record<string, string>> = { Workspace: 'link', Redirect: 'redirect' }

/** `team`, `team (Initializing)`, `remote → https://… (mount)`, `old → root:team (redirect, Unavailable: why)` */
function labelOf({ metadata, spec, status }: Workspace): string {
  const { phase = 'Scheduling', conditions = [] } = status ?? {}
  const why = conditions.find(condition => condition.status === 'False')?.message
  const state = phase === 'Ready' ? [] : [why === undefined ? phase : `${phase}: ${why}`]
  if (spec?.mount === undefined) return `${metadata.name}${inParentheses(state)}`
  const kind = kinds[spec.mount.type ?? '']
  const target = kind === undefined ? spec.URL : spec.URL?.replace(/^.*\/clusters\//, '')
  return `${metadata.name} → ${target ?? '?'}${inParentheses([kind ?? 'mount', ...state])}`
}

const inParentheses = (notes: readonly string[]): string =>
  notes.length === 0 ? '' : ` (${notes.join(', ')})`
