import { LRUCache } from 'lru-cache'
import type { Backend } from '../contract/backend.ts'
import type { VirtualWorkspace } from '../contract/workspace.ts'
import type { ClusterPlace, Place } from '../contract/workspacetree.ts'
import { badRequest, notFound } from '../meta/errors.ts'
import type { ClusterName, ClusterScope } from '../meta/object.ts'
import type { Incoming } from '../request/incoming.ts'
import { isClusterName, isClusterPath, overlaps, type Params, type ViewPath } from '../request/path.ts'
import {
  type KubernetesUrl,
  parseRequestInfo,
  type RequestInfo,
  type ResourceRequest,
  type Verb,
} from '../request/requestinfo.ts'
import { decodeSegment, isPathSegment } from '../request/segments.ts'
import { clusterNameKey, isServiceAccount, type UserInfo } from '../request/user.ts'

/** Finds the view of a URL and parses the rest. Throws a 4xx `StatusError` for malformed URLs. */
export type Routes = (incoming: Pick<Incoming, 'method' | 'path' | 'search' | 'query'>) => Target | Unresolved

/** Where views are served that this program does not serve, by name: a sentence for clients. */
export type Elsewhere = Readonly<Record<string, string>>

/** The number of cached URLs for each method, and of cached collections. */
const most = 500
const longestKept = 512

/** Routes with a cache, because the result depends on method and URL only. */
export function createRoutes(workspaces: readonly VirtualWorkspace[], elsewhere: Elsewhere = {}): Routes {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
  const known = new Map(methods.map(m => [m, new LRUCache<string, Target | Unresolved>({ max: most })]))
  const collections = new Collections()
  return incoming => {
    const { method, path, search } = incoming
    const object = collections.find(method, path)
    if (object !== undefined) return object
    const url = search === '' ? path : path + search
    const ofMethod = known.get(method)
    const found = ofMethod?.get(url)
    if (found !== undefined) return found
    const read = resolveUrl(workspaces, incoming, elsewhere)
    if (!collections.add(path, read) && url.length <= longestKept) ofMethod?.set(url, read)
    return read
  }
}

/** The verbs of requests for one object, whatever their query. */
const objectVerbs: Readonly<Record<string, Verb>> = {
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/**
 * The collections of the URLs of objects: the URLs of two objects of a collection differ in the method and the last segment
 * only, so that one is parsed for all.
 */
class Collections {
  /** The target of one object by the URL of its collection. */
  readonly #known = new LRUCache<string, ObjectTarget>({ max: most })

  find(method: string, path: string): Target | undefined {
    const verb = objectVerbs[method]
    const end = path.lastIndexOf('/')
    const known = verb === undefined ? undefined : this.#known.get(path.slice(0, end))
    if (verb === undefined || known === undefined) return undefined
    const name = path.slice(end + 1)
    if (!isPathSegment(name)) return undefined
    const { info } = known
    const below = info.path.slice(0, info.path.length - info.name.length)
    return { ...known, info: { ...info, verb, name, path: below + name } }
  }

  /** Returns whether the target is that of an object of a collection. */
  add(path: string, target: Target | Unresolved): boolean {
    if (!isOfObject(target, path)) return false
    const collection = path.slice(0, -target.info.name.length - 1)
    if (collection.length <= longestKept) this.#known.set(collection, target)
    return true
  }
}

interface ObjectTarget extends Target {
  readonly info: ResourceRequest
}

/** A namespace is not: its name is also the namespace of the request. */
function isOfObject(target: Target | Unresolved, path: string): target is ObjectTarget {
  const { workspace, info } = target
  if (workspace === undefined || !info.isResource || info.resource === 'namespaces') return false
  const { verb, name, subresource } = info
  return ofOneObject.has(verb) && name !== '' && subresource === '' && path.endsWith(`/${name}`)
}

const ofOneObject: ReadonlySet<Verb> = new Set(Object.values(objectVerbs))

/** The view and parsed URL of a request. */
export interface Target {
  readonly workspace: VirtualWorkspace
  readonly params: Params
  /** The cluster segment; undefined for URLs without `/clusters/…`. */
  readonly cluster: string | undefined
  /** The same if it is a cluster name or `*`. */
  readonly scope: ClusterScope | undefined
  readonly info: RequestInfo
  /** The view, its parameters and the cluster segment, in one string: requests to the same place share seats. */
  readonly place: string
}

/** A URL of no view. */
export interface Unresolved {
  readonly workspace: undefined
  readonly cluster?: undefined
  readonly info: RequestInfo
  /** How a URL of a view continues, where that is what is wrong; else ''. */
  readonly hint: string
}

/**
 * Throws an `Error` if two views have the same name, or patterns that match the same URL. It names the files of plugins among the two, as
 * only their authors can change something.
 */
export function checkViews(workspaces: readonly VirtualWorkspace[]): void {
  for (const [i, workspace] of workspaces.entries()) {
    for (const other of workspaces.slice(i + 1)) {
      const clash = clashOf(workspace, other)
      if (clash !== undefined) throw new Error(`${filesOf(workspace, other)}${clash}`)
    }
  }
}

function clashOf(one: VirtualWorkspace, other: VirtualWorkspace): string | undefined {
  if (one.name === other.name) return `duplicate virtual workspace "${one.name}"`
  if (!overlaps(one.path.pattern, other.path.pattern)) return undefined
  return `virtual workspaces "${one.name}" and "${other.name}" have ambiguous paths: "${one.path.pattern}" and "${other.path.pattern}"`
}

function filesOf(...views: readonly VirtualWorkspace[]): string {
  const files = new Set(views.flatMap(({ plugin }) => plugin?.origin.file ?? []))
  return files.size === 0 ? '' : `${[...files].join(' and ')}: `
}

/** Finds the view of a URL and parses the rest. Throws a 4xx `StatusError` for malformed URLs. */
export function resolveUrl(
  workspaces: readonly VirtualWorkspace[],
  url: KubernetesUrl,
  elsewhere: Elsewhere = {},
): Target | Unresolved {
  const { method, query } = url
  for (const workspace of workspaces) {
    const found = workspace.path.parse(url.path)
    if (found === undefined) continue
    const { params, cluster, rest } = found
    const info = parseRequestInfo({ method, query, path: rest })
    return target({
      workspace,
      params,
      cluster,
      scope: scopeIn(cluster),
      info,
      place: placeOf(workspace, found),
    })
  }
  const info = parseRequestInfo(url)
  const plain = workspaces.find(workspace => workspace.path.pattern === '')
  const isForeign = /^\/(clusters|services)(\/|$)/.test(info.path)
  if (plain === undefined || isForeign)
    return Object.freeze({
      workspace: undefined,
      info,
      hint: hintOf(elsewhere, url.path) || hintFor(workspaces, url.path),
    })
  return target({ workspace: plain, params: {}, cluster: undefined, scope: undefined, info, place: '/' })
}

/** For views that this program does not serve. */
function hintOf(elsewhere: Elsewhere, path: string): string {
  const [, name = ''] = /^\/services\/([^/]+)/.exec(path) ?? []
  if (!Object.hasOwn(elsewhere, name)) return ''
  return `: this program does not serve the view ${JSON.stringify(name)}: ${elsewhere[name]}`
}

/** For URLs of views without a cluster, or with a workspace path where a view takes a cluster. */
function hintFor(workspaces: readonly VirtualWorkspace[], path: string): string {
  const [start = '', rest] = path.split('/clusters', 2)
  const segments = start.split('/')
  const isView = (_: unknown, i: number): boolean => {
    const url = `${segments.slice(0, segments.length - i).join('/')}/clusters/*`
    return workspaces.some(workspace => workspace.path.pattern !== '' && workspace.path.parse(url))
  }
  if (!segments.some(isView)) return ''
  const segment = rest?.split('/')[1] ?? ''
  if (segment === '')
    return ': the URL of a view continues with /clusters/* or /clusters/<name of a logical cluster>'
  return scopeIn(segment) === undefined
    ? `: the URL of a view has * or the name of a logical cluster after /clusters/, not ${JSON.stringify(segment)}`
    : ''
}

/** `apiexport/2hx8kq0p4z7vw1a9/widgets.example.com/*`; `/root` of the `/clusters/…` endpoint. */
const placeOf = ({ name }: VirtualWorkspace, { params, cluster }: ViewPath): string =>
  [name, ...Object.values(params), cluster].join('/')

/** Frozen, because requests for the same URL share it. */
function target(read: Target): Target {
  Object.freeze(read.params)
  Object.freeze(read.info)
  return Object.freeze(read)
}

const scopeIn = (written: string): ClusterScope | undefined =>
  written === '*' || isClusterName(written) ? written : undefined

/** The cluster of URLs without one, for privileged users only. */
export const shardCluster = 'system:admin'

/** `/clusters/<name>/metrics`: metrics cover all logical clusters, and are served at `/metrics` only. */
export const isShardMetrics = (target: Target | Unresolved): boolean =>
  target.info.path === '/metrics' && target.workspace?.path.pattern === '' && target.cluster !== undefined

/** The logical cluster in a URL, if it can be found before authentication. */
export function namedCluster(
  backend: Pick<Backend, 'resolve'>,
  target: Target | Unresolved,
): ClusterName | undefined {
  if (target.cluster === undefined) return undefined
  const { cluster, scope } = target
  if (scope !== undefined) return scope === '*' ? undefined : scope
  return isClusterPath(cluster) ? backend.resolve(cluster) : undefined
}

/**
 * Requests of a service account without a cluster in the URL are for its own logical cluster (kcp
 * `pkg/server/filters`, `WithClusterScope`). The cluster is that of the authenticated user.
 */
export function homeOf(target: Target, { name, extra }: UserInfo): Target {
  if (target.cluster !== undefined || !isServiceAccount(name)) return target
  const [home, ...others] = extra?.[clusterNameKey] ?? []
  return home === undefined || others.length > 0 || !isClusterName(home)
    ? target
    : { ...target, cluster: home, scope: home }
}

/** The logical cluster of a cluster segment: workspace paths are resolved, cluster names are not checked. */
export function resolveCluster(written: string, resolve: (path: string) => string | undefined): ClusterScope {
  const scope = scopeIn(written)
  if (scope !== undefined) return scope
  if (!isClusterPath(written)) {
    throw badRequest(`invalid cluster: "${written}" does not match the regex`)
  }
  const cluster = resolve(written)
  if (cluster === undefined) {
    throw notFound({ group: 'tenancy.kcp.io', resource: 'workspaces', name: written })
  }
  return cluster
}

/** A request for a workspace that is mounted, a link, or unavailable: no logical cluster of this server answers it. */
export interface MountedTarget {
  readonly place: Exclude<Place, ClusterPlace>
  /** The path of the workspace as in the URL: `root:remote`. */
  readonly path: string
  /** The rest of the URL's path, percent-encoded; '' or starting with `/`. */
  readonly rest: string
}

const clusters = '/clusters/'

/** The mounted workspace that a URL names; undefined for logical clusters of this server. */
export function mountedTarget(backend: Backend, { path }: Incoming): MountedTarget | undefined {
  if (!path.startsWith(clusters)) return undefined
  const slash = path.indexOf('/', clusters.length)
  const end = slash < 0 ? path.length : slash
  const cluster = decodeSegment(path.slice(clusters.length, end)) ?? ''
  if (isClusterName(cluster) || !isClusterPath(cluster)) return undefined
  const place = backend.place?.(cluster)
  if (place === undefined || place.kind === 'cluster') return undefined
  const rest = path.slice(end)
  return { place, path: cluster, rest: rest === '/' ? '' : rest }
}
