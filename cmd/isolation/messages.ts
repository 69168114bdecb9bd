import type { LogLevel } from '../../framework/contract/log.ts'
import { pathPattern } from '../../framework/request/path.ts'
import { StartError } from '../files/starterror.ts'
import type { VirtualWorkspacesFlags } from '../flags/virtualworkspaces.ts'

/** The flags of `oriel virtual-workspaces` by which a process reaches the shard. */
export type ShardConnectionFlags = Pick<
  VirtualWorkspacesFlags,
  | 'kubeconfig'
  | 'context'
  | 'externalLogicalClusterAdminKubeconfig'
  | 'cacheKubeconfig'
  | 'cacheServerKubeconfigFile'
>

/** How the process of an isolated view reaches the shard: by the socket of `oriel start`, or as `oriel virtual-workspaces` does. */
export type ShardPlace =
  | { readonly socketPath: string; readonly token: string }
  | { readonly flags: ShardConnectionFlags }

/** The first line on stdin of the process. */
export interface IsolatedConfig {
  /** A file, or the name of an installed package. */
  readonly view: string
  readonly options: Readonly<Record<string, unknown>>
  /** Names the files that were loaded, for `--watch`. */
  readonly fresh: boolean
  /** The Unix socket that the process listens on. */
  readonly socketPath: string
  /** The bearer token of requests to that socket. */
  readonly secret: string
  readonly shard: ShardPlace
  readonly logLevel: LogLevel
}

/** A further line on stdin: the URLs of the views, which the process publishes. It serves after the first such line. */
export interface PublishedUrls {
  readonly own: string
  readonly current: readonly string[]
}

/** A view of the process. */
export interface AnnouncedView {
  readonly name: string
  readonly pattern: string
}

/** The only line of the process on the descriptor 3. */
export type Announcement =
  | { readonly views: readonly AnnouncedView[]; readonly files: readonly string[] }
  | { readonly error: string }

/** The descriptor on which the process announces its views. */
export const announcementFd = 3

/** The path of the decisions of the process, for `oriel explain`. Views of the process are below other paths. */
export const decisionsPattern = '/services/oriel.dev.decisions'

/** The views that a process announced. Throws `StartError` with a mistake of the plugin, and
 * an `Error` for other texts, because a plugin may write them. */
export function announced(text: string): Exclude<Announcement, { readonly error: string }> {
  const found = parsed(text)
  if (typeof found.error === 'string') throw new StartError(found.error)
  const { views, files } = found
  if (!Array.isArray(views) || views.length === 0 || !Array.isArray(files))
    throw new Error('its process announced no views')
  return { views: views.map(checked), files: files.map(String) }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    throw new Error('its process ended before it announced its views')
  }
}

function checked(view: unknown): AnnouncedView {
  const { name, pattern } = Object(view) as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || name === '' || typeof pattern !== 'string' || pattern === '')
    throw new Error('its process announced a view without name or path')
  pathPattern(pattern)
  return { name, pattern }
}
