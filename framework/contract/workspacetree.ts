import { type ClusterName, isSystemCluster, type KubeObject } from '../meta/object.ts'
import { isClusterPath } from '../request/path.ts'

/** The target of a mount: another server, a redirect, or another workspace (`docs/mounts.md`). */
export type MountType = 'URL' | 'Redirect' | 'Workspace'

/** On a Workspace with a mount: the identity with which requests are forwarded, `None` (default) or `Forward`. */
export const mountIdentityAnnotation = 'tenancy.oriel.dev/mount-identity'

/** `Forward`: the bearer token of the client, if the flags allow it for the host; `None`: no credentials. */
export type MountIdentity = 'None' | 'Forward'

/** A path of a logical cluster. */
export interface ClusterPlace {
  readonly kind: 'cluster'
  readonly cluster: ClusterName
}

/** A path of a workspace on another server. */
export interface MountPlace {
  readonly kind: 'URL' | 'Redirect'
  readonly url: string
  readonly identity: MountIdentity
  /** The logical cluster of the mounted workspace object: requests need access to it. */
  readonly parent: ClusterName
  /** For redirects, the rest of the path after the mounted workspace: `:child`, or ''. */
  readonly rest: string
  /** Aborts when the mount changes or becomes unready. */
  readonly changed: AbortSignal
}

/** A path with an unavailable workspace, or with a loop of mounts. */
export interface ClosedPlace {
  readonly kind: 'unavailable' | 'loop'
  readonly cause?: ClosingCause
}

/** Why a workspace is unavailable. */
export interface ClosingCause {
  /** The logical cluster of the workspace object: only users with access to it may read the message. */
  readonly parent: ClusterName
  /** Since when, and the message of the condition that is False. */
  readonly message: string
}

/** The result of the look-up of a workspace path (kcp `pkg/index`). */
export type Place = ClusterPlace | MountPlace | ClosedPlace

/** An index of workspaces by parent and name (kcp `pkg/index`). */
export interface WorkspaceTree {
  setWorkspace(parent: ClusterName, name: string, workspace: KubeObject | undefined): void
  /** Drops all workspaces of some parents. Their mounts have changed. */
  forget(parents: ReadonlySet<ClusterName>): void
  /** Looks up a path: the first segment is a cluster for which `exists` is true; each later one a workspace in the cluster before. */
  place(path: string, exists: (cluster: ClusterName) => boolean): Place | undefined
  /** The logical cluster of a path, also if its workspaces are unavailable. */
  resolve(path: string, exists: (cluster: ClusterName) => boolean): ClusterName | undefined
}

interface Mount {
  readonly type: MountType
  readonly url: string
  readonly identity: MountIdentity
  readonly replaced: AbortController
}

interface Entry {
  readonly cluster?: ClusterName
  readonly mount?: Mount
  readonly unavailable: boolean
  readonly message?: string
}

/** `ownUrls`: the current prefixes of workspace URLs, without `/clusters/`. A mount of such a URL is a link. */
export function createWorkspaceTree(ownUrls: () => readonly string[] = () => []): WorkspaceTree {
  const children = new Map<string, Entry>()
  const placeOf = (parent: ClusterName, name: string): string => `${parent}/${name}`
  const child: Walk['child'] = (parent, name) => children.get(placeOf(parent, name))
  const end = (path: string, exists: Walk['exists']): Stop | undefined =>
    walk({ ownUrls, exists, child }, path)
  return {
    setWorkspace(parent, name, workspace) {
      const key = placeOf(parent, name)
      const known = children.get(key)
      const entry = workspace && entryOf(workspace)
      if (known !== undefined && entry !== undefined && isSame(known, entry)) return
      if (entry === undefined) children.delete(key)
      else children.set(key, entry)
      known?.mount?.replaced.abort()
    },
    forget(parents) {
      for (const [key, { mount }] of [...children]) {
        if (!parents.has(key.slice(0, key.indexOf('/')))) continue
        children.delete(key)
        mount?.replaced.abort()
      }
    },
    place(path, exists) {
      const { place, closed } = end(path, exists) ?? nowhere
      return place === undefined || closed === undefined ? place : { kind: 'unavailable', ...closed }
    },
    resolve(path, exists) {
      const { place } = end(path, exists) ?? nowhere
      return place?.kind === 'cluster' ? place.cluster : undefined
    },
  }
}

interface Walk {
  ownUrls(): readonly string[]
  exists(cluster: ClusterName): boolean
  child(parent: ClusterName, name: string): Entry | undefined
}

const mostLinks = 8

/** The end of a path, behind its links. */
function walk(by: Walk, start: string): Stop | undefined {
  let stop = walkTo(by, start)
  for (let links = 0; stop?.link !== undefined; links++) {
    if (links === mostLinks) return { place: { kind: 'loop' }, closed: undefined }
    const { closed } = stop
    const next = walkTo(by, stop.link)
    stop = next && closed ? { ...next, closed } : next
  }
  return stop
}

const nowhere: Partial<Stop> = {}

interface Stop {
  readonly place?: Place
  /** The path to continue with. */
  readonly link?: string
  /** The first unavailable workspace of the path. */
  readonly closed: Closing | undefined
}

type Closing = Pick<ClosedPlace, 'cause'>

function closingOf({ unavailable, message }: Entry, parent: ClusterName): Closing | undefined {
  if (!unavailable) return undefined
  return message === undefined ? {} : { cause: { parent, message } }
}

/** Follows a path up to the first link. */
function walkTo(by: Walk, path: string): Stop | undefined {
  if (isSystemCluster(path)) return arrived(by, path, undefined)
  const names = path.split(':')
  let cluster = names[0] ?? ''
  let closed: Closing | undefined
  for (let i = 1; i < names.length; i++) {
    const entry = by.exists(cluster) ? by.child(cluster, names[i] ?? '') : undefined
    if (entry === undefined) return undefined
    closed ??= closingOf(entry, cluster)
    if (entry.mount !== undefined)
      return throughMount(by, {
        parent: cluster,
        rest: names.slice(i + 1),
        closed,
        mount: entry.mount,
      })
    if (entry.cluster === undefined) return undefined
    cluster = entry.cluster
  }
  return arrived(by, cluster, closed)
}

const arrived = ({ exists }: Walk, cluster: ClusterName, closed: Closing | undefined): Stop | undefined =>
  exists(cluster) ? { place: { kind: 'cluster', cluster }, closed } : undefined

interface Crossing {
  readonly parent: ClusterName
  readonly rest: readonly string[]
  readonly closed: Closing | undefined
  readonly mount: Mount
}

/** A mount of a workspace of this server is a link; paths below a mount of another server are unknown. */
function throughMount({ ownUrls }: Walk, { parent, rest, closed, mount }: Crossing): Stop | undefined {
  const { type, url, identity, replaced } = mount
  const below = rest.map(name => `:${name}`).join('')
  const changed = replaced.signal
  if (type === 'Redirect')
    return { place: { kind: 'Redirect', url, identity, parent, rest: below, changed }, closed }
  const target = workspaceAt(ownUrls(), url)
  if (target !== undefined) return { link: `${target}${below}`, closed }
  if (type === 'Workspace' || below !== '') return undefined
  return { place: { kind: 'URL', url, identity, parent, rest: '', changed }, closed }
}

/** `<own URL>/clusters/root:org` → `root:org`. */
function workspaceAt(ownUrls: readonly string[], url: string): string | undefined {
  const prefix = ownUrls.map(own => `${own}/clusters/`).find(each => url.startsWith(each))
  if (prefix === undefined) return undefined
  const path = url.slice(prefix.length).replace(/\/$/, '')
  return isClusterPath(path) ? path : undefined
}

interface Workspace extends KubeObject {
  readonly spec?: {
    readonly cluster?: string
    readonly URL?: string
    readonly mount?: { readonly type?: string }
  }
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] }
}

interface Condition {
  readonly status: string
  readonly lastTransitionTime?: string
  readonly message?: string
}

/** undefined for workspaces that are not scheduled yet, and for mounts without a URL. */
function entryOf(object: KubeObject): Entry | undefined {
  const { spec, status } = object as Workspace
  const phase = status?.phase ?? 'Scheduling'
  if (phase === 'Scheduling') return undefined
  const unavailable = phase === 'Unavailable'
  const message = unavailable ? messageOf(status?.conditions) : undefined
  const closed = { unavailable, ...(message !== undefined && { message }) }
  if (spec?.mount === undefined) return spec?.cluster ? { ...closed, cluster: spec.cluster } : undefined
  const url = spec.URL?.replace(/\/$/, '')
  if (!url) return undefined
  const identity = mountIdentityOf(object)
  return {
    ...closed,
    mount: { type: typeOf(spec.mount.type), url, identity, replaced: new AbortController() },
  }
}

/** The first condition that is False. */
function messageOf(conditions: readonly Condition[] = []): string | undefined {
  const { message = '', lastTransitionTime = 'an unknown time' } =
    conditions.find(({ status }) => status === 'False') ?? {}
  return message === '' ? undefined : `since ${lastTransitionTime}: ${message}`
}

/** Any other value of the annotation is `None`: no token is sent by mistake. */
export const mountIdentityOf = ({ metadata }: KubeObject): MountIdentity =>
  metadata.annotations?.[mountIdentityAnnotation] === 'Forward' ? 'Forward' : 'None'

/** The default `Cluster`, which is not among the documented values, means a URL. */
const typeOf = (type: string | undefined): MountType =>
  type === 'Redirect' || type === 'Workspace' ? type : 'URL'

const isSame = (a: Entry, b: Entry): boolean =>
  a.cluster === b.cluster &&
  a.unavailable === b.unavailable &&
  a.message === b.message &&
  a.mount?.type === b.mount?.type &&
  a.mount?.url === b.mount?.url &&
  a.mount?.identity === b.mount?.identity
