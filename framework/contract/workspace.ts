import type { ClusterScope, KubeObject } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import { type ParamsOf, type PathPattern, pathPattern } from '../request/path.ts'
import type { UserInfo } from '../request/user.ts'
import type { AdmissionPlugin } from './admission.ts'
import type { ApiSet } from './apis.ts'
import type { Decision } from './authorizer.ts'
import type { Backend, ResourceRef } from './backend.ts'
import type { RequestContext } from './context.ts'
import type { Informers } from './informer.ts'
import type { Logger } from './log.ts'
import type { SharedCache } from './sharedcache.ts'
import type { Outbound } from './upstream.ts'

/** Which objects' status lists this view's URLs, and what the list is. The kernel runs it; it never builds URLs itself. */
export interface UrlPublisher<P extends Params = Params> {
  /** The kind whose status carries the URLs. */
  readonly objects: ResourceRef
  /** Kinds whose changes may change what is published. */
  readonly dependsOn: readonly ResourceRef[]
  /** The views to publish on one object; undefined leaves its status alone. From memory. */
  views(object: KubeObject): readonly P[] | undefined
  /** The object with the URLs in its status; the same object when nothing changes. */
  publish(object: KubeObject, urls: readonly string[]): KubeObject
}

/** What a view is given to build itself from. */
export interface Host {
  readonly backend: Backend
  /** Local, indexed copies of backend objects, kept up to date; shared between views. */
  readonly informers: Informers
  readonly log: Logger
  /** What shards show each other; a view that needs it serves nothing without it. */
  readonly shared?: SharedCache
  /** The way to servers outside; a view that needs one serves nothing without it. */
  readonly outbound?: Outbound
}

/**
 * A view: an API endpoint computed over many logical clusters. Three members are required, everything else has a safe
 * default.
 */
export interface VirtualWorkspace<P extends Params = Params> {
  readonly name: string
  /** Reads URLs and writes them: what is published is what is accepted. */
  readonly path: PathPattern<P>
  /** Synchronous, from memory, the same object until something changes. undefined: 404. */
  apis(params: P, cluster: ClusterScope): ApiSet<P> | undefined
  /** Default: ask the backend, for the action in `ctx.cluster`. */
  authorize?(ctx: RequestContext<P>): Promise<Decision>
  /** `authorize` for who wants to know why: asks everything, also behind a refusal. Default: the same. */
  explain?(ctx: RequestContext<P>): Promise<Decision>
  /** Refuses requests that nobody may make, privileged or not: throws a `StatusError`. Called after `authorize`. */
  guard?(ctx: RequestContext<P>): Promise<void>
  /** Default: `ctx.user`. */
  actAs?(ctx: Omit<RequestContext<P>, 'actAs'>): UserInfo
  /** Requests that `apis()` does not cover. Default: 'not found'. */
  readonly otherwise?: 'not found' | 'forward'
  /** Run in order before the storage's own admission. */
  readonly admission?: readonly AdmissionPlugin<P>[]
  readonly publisher?: UrlPublisher<P>
  /** Informers and controllers; requests are 503 until `ready()`. Returns when `signal` aborts. */
  run?(ready: () => void, signal: AbortSignal): Promise<void>
}

/** Builds a view over a host. The menu in `virtual/index.ts` is a list of these. */
export type WorkspaceFactory<P extends Params = Params> = (host: Host) => VirtualWorkspace<P>

/** Types `params` by the pattern: `'/services/apiexport/:path/:name'` gives `{ path, name }`. */
export type WorkspaceDefinition<S extends string> = Omit<VirtualWorkspace<ParamsOf<S>>, 'name' | 'path'>

/**
 * Defines a view. A whole one, which shows every cluster's ConfigMaps that are labelled for a team:
 *
 * ```ts
 * export const team = defineVirtualWorkspace('team', '/services/team/:team', ({ backend }) => {
 *   const configMaps = backend.apis('*')?.find('', 'v1', 'configmaps')
 *   const apis = apiSetOf(configMaps === undefined ? [] : [{ ...configMaps, verbs: ['get', 'list', 'watch'] }])
 *   return { apis: () => apis }
 * })
 * ```
 *
 * `params` are typed by the pattern. The factory forgets that type again, because a server holds views of all
 * patterns: the params a view is given always come from parsing its own pattern.
 */
export function defineVirtualWorkspace<const S extends string>(
  name: string,
  pattern: S,
  build: (host: Host) => WorkspaceDefinition<S>,
): WorkspaceFactory {
  const path = pathPattern(pattern)
  return host =>
    ({ ...build(host), name, path }) as VirtualWorkspace<ParamsOf<S>> as unknown as VirtualWorkspace
}
