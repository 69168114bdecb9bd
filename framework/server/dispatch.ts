import { type Awaitable, after } from '../async/awaitable.ts'
import type { AdmissionPlugin } from '../contract/admission.ts'
import {
  type ApiResource,
  type ApiSet,
  requireVerb,
  resourceOfRef,
  type Subresource,
  servedBy,
} from '../contract/apis.ts'
import type { Backend } from '../contract/backend.ts'
import { contextWith, type RequestContext } from '../contract/context.ts'
import type { OpenApiDocuments } from '../contract/documents.ts'
import type { Pages } from '../contract/pages.ts'
import type { Forwarding } from '../contract/upstream.ts'
import type { VersionInfo } from '../contract/version.ts'
import type { VirtualWorkspace } from '../contract/workspace.ts'
import { discoveryAnswer } from '../discovery/discoveryanswer.ts'
import { openApiAnswer } from '../discovery/openapiendpoint.ts'
import { methodNotSupported, notServed, StatusError } from '../meta/errors.ts'
import type { Incoming } from '../request/incoming.ts'
import type { ResourceRequest, Verb } from '../request/requestinfo.ts'
import type { Answer, VerbRequest } from '../request/response.ts'
import type { UserInfo } from '../request/user.ts'
import { documentAnswer } from '../responses/documentanswer.ts'
import { negotiate } from '../responses/negotiation.ts'
import { type Call, checkScope, type VerbScope } from '../verbs/call.ts'
import { create } from '../verbs/create.ts'
import { deleteOne } from '../verbs/delete.ts'
import { deletecollection } from '../verbs/deletecollection.ts'
import { get } from '../verbs/get.ts'
import { list } from '../verbs/list.ts'
import { patch } from '../verbs/patch.ts'
import { update } from '../verbs/update.ts'
import { watch } from '../verbs/watch.ts'
import { authorize } from './access.ts'
import { type HealthCheck, healthAnswer } from './health.ts'
import { plainAnswer } from './plainhttp.ts'
import type { Target } from './routes.ts'
import type { Exchange } from './serve.ts'

/** The sources of responses. */
export interface Sources {
  readonly backend: Backend
  readonly documents: OpenApiDocuments
  readonly version: VersionInfo
  readonly checks: readonly HealthCheck[]
  readonly pages?: Pages
  /** Host and port. */
  readonly address: string
}

/** The exchange of a request with its view and user. */
export interface Routed extends Exchange {
  target: Target
  user: UserInfo
}

/** The exchange of an authorized request. */
export interface Authorized extends Routed {
  ctx: RequestContext
}

/** Answers an authorized request. Throws a `StatusError`, such as 404 for unknown resources and paths. */
export function dispatch(sources: Sources, exchange: Authorized): Awaitable<Answer | Forwarding> {
  const { info } = exchange.ctx
  return info.isResource ? resourceAnswer(sources, exchange, info) : pathAnswer(sources, exchange, info.path)
}

function resourceAnswer(
  sources: Sources,
  exchange: Authorized,
  info: ResourceRequest,
): Awaitable<Answer | Forwarding> {
  const {
    ctx,
    target: { workspace },
  } = exchange
  if (ctx.cluster === '*' && info.verb !== 'list' && info.verb !== 'watch') throw notInWildcard(info)
  const apis = workspace.apis(ctx.params, ctx.cluster, ctx.user)
  const resource = resourceOfRef(apis, info) ?? metadataOnly(apis, info, exchange.incoming)
  if (info.verb === 'watch' && apis?.replaced !== undefined)
    exchange.lifetime.follow(apis.replaced, 'replaced')
  if (resource === undefined) return forwardOrNotFound(sources, exchange)
  const part = partOf(resource, info)
  if (part !== undefined) exchange.measured.serves(info)
  if (part?.connect !== undefined) return connected(exchange, info, { resource, connect: part.connect })
  return handle(ctx, resource, exchange.incoming, new ViewScope(sources, exchange, info, apis))
}

/** What other verbs check, too: a cluster-scoped resource has no URL with a namespace, whose roles would allow it. */
function connected(
  { ctx, incoming, target: { workspace } }: Authorized,
  info: ResourceRequest,
  { resource, connect }: { readonly resource: ApiResource } & Required<Pick<Subresource, 'connect'>>,
): ReturnType<typeof connect> {
  const served = servedBy(resource, info.subresource, info.name)
  requireVerb(served, info.verb)
  checkScope({ ctx, info, served })
  return connect(ctx, { incoming, rest: restBehind(workspace, incoming, info) })
}

/** The requested resource or subresource; undefined for unknown subresources. */
const partOf = (
  resource: ApiResource,
  { subresource }: ResourceRequest,
): Pick<Subresource, 'connect'> | undefined =>
  subresource === '' ? resourceItself : resource.subresources.find(each => each.name === subresource)

const resourceItself = {}

/** The view of a request, for the verbs that need more than the resource. */
class ViewScope implements VerbScope {
  readonly #sources: Sources
  readonly #exchange: Authorized
  readonly #info: ResourceRequest
  readonly #apis: ApiSet | undefined

  constructor(sources: Sources, exchange: Authorized, info: ResourceRequest, apis: ApiSet | undefined) {
    this.#sources = sources
    this.#exchange = exchange
    this.#info = info
    this.#apis = apis
  }

  get admission(): readonly AdmissionPlugin[] {
    return this.#exchange.target.workspace.admission ?? []
  }

  atVersion(version: string): ApiResource | undefined {
    return resourceOfRef(this.#apis, { ...this.#info, version })
  }

  async mayCreate(): Promise<void> {
    const { ctx, target } = this.#exchange
    const creating = contextWith(ctx, { info: { ...this.#info, verb: 'create' } })
    await authorize(creating, target.workspace, this.#sources.backend.authorizer)
    await target.workspace.guard?.(creating)
  }
}

/** The resource for requests of metadata only, which may read all definitions of a resource (kcp partial metadata requests). */
function metadataOnly(
  apis: ApiSet | undefined,
  { group, version, resource, subresource, identity, verb }: ResourceRequest,
  incoming: Incoming,
): ApiResource | undefined {
  if (subresource !== '' || identity !== undefined) return undefined
  const found = apis?.findMetadata?.(group, version, resource)
  if (found === undefined) return undefined
  const { transform } = negotiate(incoming, verb === 'watch' ? 'watch' : 'objects')
  return transform?.kind.startsWith('PartialObjectMetadata') ? found : undefined
}

/** The raw path after `…/<resource>/<name>/<subresource>`. */
function restBehind(workspace: VirtualWorkspace, { path }: Incoming, info: ResourceRequest): string {
  const inCluster = workspace.path.parse(path)?.rest ?? path
  const segments = (info.group === '' ? 2 : 3) + (info.namespace === '' ? 0 : 2) + 3
  const rest = inCluster.split('/').slice(segments + 1)
  return rest.map(segment => `/${segment}`).join('')
}

/** The 405 for verbs other than list and watch in the `*` logical cluster. */
function notInWildcard(info: ResourceRequest): StatusError {
  const { message, details } = methodNotSupported(info, info.verb).status
  return new StatusError(405, 'MethodNotAllowed', `${message} in the \`*\` logical cluster`, details)
}

async function pathAnswer(
  sources: Sources,
  exchange: Authorized,
  path: string,
): Promise<Answer | Forwarding> {
  const { method } = exchange.incoming
  const isRead = method === 'GET' || method === 'HEAD'
  const answer = isRead ? await localAnswer(sources, exchange, path) : undefined
  if (answer !== undefined) return answer
  const { http } = exchange.target.workspace
  if (http === undefined) return forwardOrNotFound(sources, exchange)
  return plainAnswer(http, exchange.ctx, exchange.incoming, path)
}

/** Answers a non-resource path of the server; undefined for other paths. */
function localAnswer(
  sources: Sources,
  exchange: Authorized,
  path: string,
): Answer | Promise<Answer> | undefined {
  const {
    ctx,
    incoming,
    target: { workspace },
  } = exchange
  if (path === '/version') return documentAnswer(sources.version, negotiate(incoming, 'documents'))
  if (workspace.path.pattern === '' && /^\/(healthz|livez|readyz)$/.test(path)) {
    return healthAnswer(sources.checks, path, incoming.query)
  }
  const page = workspace.path.pattern === '' ? sources.pages?.get(path) : undefined
  if (page !== undefined) return page()
  const apis = workspace.apis(ctx.params, ctx.cluster, ctx.user)
  if (apis === undefined || apis.isPartial) return undefined
  if (path === '/') return documentAnswer({ paths: pathsOf(apis) }, negotiate(incoming, 'documents'))
  if (/^\/apis?(\/|$)/.test(path)) return discoveryAnswer(apis, path, incoming, sources.address)
  if (path.startsWith('/openapi/')) return openApiAnswer(sources.documents, apis, path, incoming)
  return undefined
}

/** The sorted index at `/` (rules.md 1.18). */
function pathsOf(apis: ApiSet): readonly string[] {
  const groups = apis.resources.flatMap(({ group, version }) =>
    group === '' ? [`/api/${version}`] : [`/apis/${group}`, `/apis/${group}/${version}`],
  )
  return [...new Set(['/api', '/apis', '/openapi/v2', '/openapi/v3', '/version', ...groups])].sort()
}

/** Forwards requests for other resources and paths to the backend, for views with `otherwise: 'forward'`; else throws 404. */
async function forwardOrNotFound(
  { backend }: Sources,
  { ctx, target, incoming }: Authorized,
): Promise<Answer> {
  if (target.workspace.otherwise !== 'forward') throw notServed()
  const { status, headers, body } = await backend.forward(ctx, incoming)
  const { 'content-type': type, ...others } = headers
  return { status, contentType: String(type ?? ''), headers: others, body, flush: true }
}

const verbs: Readonly<Record<Verb, (call: Call) => Awaitable<Answer>>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: deleteOne,
  deletecollection,
}

/**
 * Answers a request for a resource. Throws a `StatusError` before the answer begins: 404 for unknown subresources and
 * wrong scopes, 405 for verbs that are not served, then the errors of the verb.
 */
export function handle(
  ctx: RequestContext,
  resource: ApiResource,
  request: VerbRequest,
  scope: VerbScope,
): Awaitable<Answer> {
  const { info } = ctx
  if (!info.isResource) throw notServed()
  const served = servedBy(resource, info.subresource, info.name)
  requireVerb(served, info.verb)
  if (resource.deprecationWarning !== undefined) ctx.record.warn(resource.deprecationWarning)
  return after(served.schema.prepare?.(), () => verbs[info.verb]({ ctx, info, served, request, scope }))
}
