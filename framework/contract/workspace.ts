import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ClusterName, ClusterScope, KubeObject } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import { type ParamsOf, type PathPattern, pathPattern } from '../request/path.ts'
import type { UserInfo } from '../request/user.ts'
import type { AdmissionPlugin } from './admission.ts'
import type { ApiSet } from './apis.ts'
import type { Decision } from './authorizer.ts'
import type { Backend, ResourceRef } from './backend.ts'
import type { RequestContext } from './context.ts'
import { checkDefinition } from './definition.ts'
import type { Informers } from './informer.ts'
import type { Item } from './item.ts'
import type { Logger } from './log.ts'
import type { PluginSupervisor } from './pluginsupervisor.ts'
import type { SharedCache } from './sharedcache.ts'
import type { Outbound } from './upstream.ts'

/** Publishes the URLs of a view in the status of objects, such as `status.endpoints` of an APIExportEndpointSlice. */
export interface UrlPublisher<P extends Params = Params> {
  /** The kind whose status carries the URLs. */
  readonly objects: ResourceRef
  /** Other resources whose changes may change the published URLs. */
  readonly dependsOn: readonly ResourceRef[]
  /** The objects whose URLs may change with an object of `dependsOn`, from memory. Absent: all of them are looked at after each change. */
  dependents?(changed: KubeObject): readonly Item[]
  /** True: the URLs lead to this server, also where other views have another base URL, because no other process serves the view. */
  readonly isOnlyHere?: boolean
  /** The path parameters of the views to publish in one object; undefined: do not change its status. Must return from memory. */
  views(object: KubeObject): readonly P[] | undefined
  /**
   * The URLs in the status of an object, for kinds in which each shard lists its own URL: those of the other shards are kept.
   * Absent: the URLs of all shards are published.
   */
  published?(object: KubeObject): readonly string[]
  /**
   * The label selector of the shards that an object with `published` lists, '' for all: the URL of another one is not added, and
   * stays when it is published already. Absent: all shards.
   */
  shardSelector?(object: KubeObject): string
  /** Returns the object with the URLs in its status; the same object if nothing changes. */
  publish(object: KubeObject, urls: readonly string[]): KubeObject
}

/** The argument of a view's factory. */
export interface Host {
  readonly backend: Backend
  /** Local copies of the backend's objects; shared between views. */
  readonly informers: Informers
  readonly log: Logger
  /** The objects that shards share; absent without a cache server. */
  readonly shared?: SharedCache
  /** Requests to other servers; absent if the server makes none. */
  readonly outbound?: Outbound
  /** Absent with a single shard, and where `backend.authorizer` decides for all shards. */
  readonly otherShards?: OtherShards
}

/** The logical clusters of other shards. */
export interface OtherShards {
  has(cluster: ClusterName): boolean
  /** Whether a user has access to a logical cluster of another shard; also false while that shard does not answer. */
  mayAccess(user: UserInfo, cluster: ClusterName): Promise<boolean>
}

/**
 * A view: an API endpoint over many logical clusters. `name`, `path` and `apis` are required. `defineVirtualWorkspace`
 * makes one.
 */
export interface VirtualWorkspace<P extends Params = Params> {
  readonly name: string
  /** Parses and formats the URLs of the view. */
  readonly path: PathPattern<P>
  /**
   * The served resources. Must return from memory, and the same object until something changes. undefined: 404. `user`: for views
   * whose resources depend on the user; the server always gives it, after `authorize`.
   */
  apis(params: P, cluster: ClusterScope, user?: UserInfo): ApiSet<P> | undefined
  /** Default: the backend's authorizer decides on the request in `ctx.cluster`. */
  authorize?(ctx: RequestContext<P>): Promise<Decision>
  /** Like `authorize`, but runs all checks, for `oriel explain`. Default: `authorize`. */
  explain?(ctx: RequestContext<P>): Promise<Decision>
  /** Throws a `StatusError` for requests that are refused for all users, privileged or not. Called after `authorize`. */
  guard?(ctx: RequestContext<P>): Promise<void>
  /** The user for requests to the backend. Default: `ctx.user`. */
  actAs?(ctx: Omit<RequestContext<P>, 'actAs'>): UserInfo
  /** The handling of requests for other resources and paths. Default: 'not found'. */
  readonly otherwise?: 'not found' | 'forward'
  /**
   * Answers requests for paths of a logical cluster that are no resources and no discovery, after `authorize`. `request.url`
   * begins behind the logical cluster: `/report?by=team`; its headers have no credentials. A router such as `@koa/router` can answer:
   *
   * ```ts
   * const answer = new Koa().use(router.routes()).callback()
   * return { apis, http: (_ctx, request, response) => answer(request, response) }
   * ```
   */
  http?(ctx: RequestContext<P>, request: IncomingMessage, response: ServerResponse): void | Promise<void>
  /** Called in order, before the admission of the backend. */
  readonly admission?: readonly AdmissionPlugin<P>[]
  readonly publisher?: UrlPublisher<P>
  /** Runs controllers until `signal` aborts. Requests get 503 until it calls `ready`. */
  run?(ready: () => void, signal: AbortSignal): Promise<void>
  /** Set by the server for the views of plugins. */
  readonly plugin?: PluginSupervisor
}

/** Makes a view. `virtual/index.ts` lists those of this repository. */
export type WorkspaceFactory<P extends Params = Params> = (host: Host) => VirtualWorkspace<P>

/** The members of a view with the path pattern `S`, which gives the type of `params`: `/services/team/:team` gives `{ team: string }`. */
export type WorkspaceDefinition<S extends string> = Omit<
  VirtualWorkspace<ParamsOf<S>>,
  'name' | 'path' | 'plugin'
>

/**
 * Defines a view. `pattern` has literal segments and parameters, whose names are the members of `params`. Throws an
 * `Error` for a malformed pattern; the view throws a `ViewMistake` when it is made without `apis` or with unknown members. A
 * view of the config maps of all logical clusters:
 *
 * ```ts
 * export const team = defineVirtualWorkspace('team', '/services/team/:team', ({ backend }) => {
 *   const configMaps = backend.apis('*')?.find('', 'v1', 'configmaps')
 *   const apis = apiSetOf(configMaps === undefined ? [] : [{ ...configMaps, verbs: ['get', 'list', 'watch'] }])
 *   return { apis: () => apis }
 * })
 * ```
 *
 * The type of the factory has no params, because a server has views of all patterns: the params of a view always come
 * from its own pattern.
 */
export function defineVirtualWorkspace<const S extends string>(
  name: string,
  pattern: S,
  build: (host: Host) => WorkspaceDefinition<S>,
): WorkspaceFactory {
  const path = pathPattern(pattern)
  return host => {
    const definition = build(host)
    checkDefinition(name, definition, build)
    return { ...definition, name, path } as VirtualWorkspace<ParamsOf<S>> as unknown as VirtualWorkspace
  }
}
