import { badRequest, methodNotSupported, notServed } from '../meta/errors.ts'
import { readableSelectors } from '../selectors/parse.ts'
import { type FieldSelector, requiredField, type Selectors } from '../selectors/selectors.ts'
import { decodeSegment, isPathSegment } from './segments.ts'

/** The verbs of Kubernetes resources. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** A resource request: `/api/v1/…` or `/apis/<group>/<version>/…` (`RequestInfo` of `k8s.io/apiserver/pkg/endpoints/request`). */
export interface ResourceRequest {
  readonly isResource: true
  readonly verb: Verb
  readonly group: string
  readonly version: string
  readonly resource: string
  /** The identity hash of an APIExport, from `widgets:<identityHash>` in the URL. */
  readonly identity?: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path: string
  /** For list, watch and deletecollection: the selectors that can be parsed. */
  readonly selectors?: Selectors
}

/** Any other request: discovery, OpenAPI, health, version. `verb` is the HTTP method in lower case. */
export interface NonResourceRequest {
  readonly isResource: false
  readonly verb: string
  readonly path: string
}

/** The parsed URL of a request. */
export type RequestInfo = ResourceRequest | NonResourceRequest

/** The method, the percent-encoded path below the cluster segment, and the query. */
export interface KubernetesUrl {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
}

/**
 * Parses a Kubernetes URL (`k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`, rules.md 1.1 to 1.12). Throws a
 * `StatusError`: 400 for a malformed path, 404 for empty segments and the removed `proxy` prefix, 405 for unsupported
 * methods.
 */
export function parseRequestInfo(url: KubernetesUrl): RequestInfo {
  const parts = decodeAll(url.path)
  const path = `/${parts.join('/')}`
  const version = parts[0] === 'api' ? 1 : 2
  if ((parts[0] !== 'api' && parts[0] !== 'apis') || parts.length < version + 2) {
    return { isResource: false, verb: url.method.toLowerCase(), path }
  }
  const isWatch = parts[version + 1] === 'watch'
  if (parts[version + 1] === 'proxy') throw notServed()
  if (isWatch && parts.length === version + 2) {
    throw badRequest(`unable to determine kind and namespace from url, ${url.path}`)
  }
  const group = version === 1 ? '' : (parts[1] ?? '')
  const gv = { group, version: parts[version] ?? '' }
  const target = targetOf(parts, version + (isWatch ? 2 : 1))
  const verb = isWatch ? legacyWatch(url.method, group, target) : verbOf(url, group, target)
  const selectors = target.name === '' && isSelective(verb) ? selectorsIn(url.query) : undefined
  const name = target.name || selectedName(selectors?.fieldSelector)
  const request = { isResource: true, verb, ...gv, ...target, name, path } as const
  return selectors === undefined || isWatch ? request : { ...request, selectors }
}

function decodeAll(path: string): readonly string[] {
  const trimmed = path.replace(/^\/+|\/+$/g, '')
  if (trimmed === '') return []
  return trimmed.split('/').map(raw => {
    if (raw === '') throw notServed()
    const text = decodeSegment(raw)
    if (text === undefined) throw badRequest(`the path segment ${JSON.stringify(raw)} is malformed`)
    return text
  })
}

type Target = Pick<ResourceRequest, 'resource' | 'identity' | 'subresource' | 'namespace' | 'name'>

/**
 * From part `at` on: `namespaces/<ns>/<resource>…` or `<resource>…`; `namespaces/<ns>[/status|finalize]` is the namespace
 * itself (rules.md 1.6).
 */
function targetOf(parts: readonly string[], at: number): Target {
  const namespace = parts[at] === 'namespaces' ? (parts[at + 1] ?? '') : ''
  const third = parts[at + 2]
  const isItself = third === undefined || third === 'status' || third === 'finalize'
  const start = namespace !== '' && !isItself ? at + 2 : at
  // The path after `proxy` is for the proxied server.
  if (parts.length > start + 3 && parts[start + 2] !== 'proxy') throw notServed()
  const written = parts[start] ?? ''
  const place = { name: parts[start + 1] ?? '', subresource: parts[start + 2] ?? '', namespace }
  const colon = written.indexOf(':')
  if (colon < 0) return { resource: written, ...place }
  return { resource: written.slice(0, colon), identity: identityIn(written, colon), ...place }
}

/** The identity hash in `widgets:<identityHash>`. */
function identityIn(segment: string, colon: number): string {
  const identity = segment.slice(colon + 1)
  if (identity === '') throw badRequest(`invalid resource "${segment}": missing identity`)
  return identity
}

const verbs: Readonly<Record<string, Verb>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

function verbOf(url: KubernetesUrl, group: string, { resource, name }: Target): Verb {
  const verb = verbs[url.method]
  if (verb === undefined) throw methodNotSupported({ group, resource, name }, url.method.toLowerCase())
  if (name !== '') return verb
  if (verb === 'delete') return 'deletecollection'
  if (verb !== 'get') return verb
  return url.method === 'GET' && isTrue(url.query.get('watch')) ? 'watch' : 'list'
}

/** `/api/v1/watch/…`, which is deprecated (rules.md 1.11). */
function legacyWatch(method: string, group: string, { resource, name }: Target): Verb {
  if (method !== 'GET') throw methodNotSupported({ group, resource, name }, method.toLowerCase())
  return 'watch'
}

/** A Boolean query parameter: true if it is present and neither `0` nor `false` (rules.md 1.9). */
export const isTrue = (value: string | null): boolean =>
  value !== null && value !== '0' && value.toLowerCase() !== 'false'

const isSelective = (verb: Verb): boolean =>
  verb === 'list' || verb === 'watch' || verb === 'deletecollection'

/** Without selectors that cannot be parsed: the verb refuses them, after authorization. */
const selectorsIn = (query: URLSearchParams): Selectors | undefined =>
  query.has('fieldSelector') || query.has('labelSelector')
    ? readableSelectors(query.get('fieldSelector'), query.get('labelSelector'))
    : undefined

/** The name that a field selector requires, for authorization (rules.md 1.10). */
function selectedName(selector: FieldSelector | undefined): string {
  const name = requiredField(selector, 'metadata.name')
  return name !== undefined && isPathSegment(name) ? name : ''
}
