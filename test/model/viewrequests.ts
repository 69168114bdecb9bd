import type { Action } from '../../framework/contract/authorizer.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { createAction } from './actions.ts'
import type { Random } from './random.ts'
import { childNames, identifiers } from './tree.ts'
import { dumps, type ViewName, type ViewRequest } from './viewsoracle.ts'
import { consumers, everywhere, namespaces } from './world.ts'

export const verbs = [
  ...(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const),
] as const
const named: readonly string[] = ['get', 'update', 'patch', 'delete']

/** Every view; '' is the plain endpoint. */
export const viewNames: readonly ViewName[] = [
  ...(['', 'apiexport', 'apiresourceschema', 'cache', 'initializingworkspaces'] as const),
  ...(['migratingworkspaces', 'mounts', 'replication', 'terminatingworkspaces', 'workspaces'] as const),
]

/** Existing exports and a missing one; the same for slices. */
const exportNames = ['maker:widgets', 'seller:widgets', 'maker:widgets', 'seller:none']
const sliceNames = ['maker:regions', 'seller:regions', 'maker:regions', 'seller:none']

/** A request of a user to one of the views. `isHttp`: only requests that a URL can express. */
export function createViewRequest(random: Random, user: UserInfo, isHttp: boolean): ViewRequest {
  const view = random.pick(viewNames)
  const action = actionIn(view, random, random.pick([...consumers, ...consumers, ...everywhere]), isHttp)
  return { view, identifier: identifierFor(view, random, action.cluster), user, action }
}

function identifierFor(view: ViewName, random: Random, cluster: string): string {
  if (view === 'apiexport') return random.pick(exportNames)
  if (view === 'replication') return random.pick(sliceNames)
  if (view === 'apiresourceschema') return cluster
  return view === 'cache' ? 'root' : random.pick(identifiers)
}

const kinds = {
  configmaps: ['', 'v1', 'configmaps', 'ConfigMap'],
  secrets: ['', 'v1', 'secrets', 'Secret'],
  apibindings: ['apis.kcp.io', 'v1alpha2', 'apibindings', 'APIBinding'],
  apiexports: ['apis.kcp.io', 'v1alpha2', 'apiexports', 'APIExport'],
  apiresourceschemas: ['apis.kcp.io', 'v1alpha1', 'apiresourceschemas', 'APIResourceSchema'],
  kubeclusters: ['mounts.contrib.kcp.io', 'v1alpha1', 'kubeclusters', 'KubeCluster'],
  logicalclusters: ['core.kcp.io', 'v1alpha1', 'logicalclusters', 'LogicalCluster'],
  regions: ['example.com', 'v1', 'regions', 'Region'],
  workspaces: ['tenancy.kcp.io', 'v1alpha1', 'workspaces', 'Workspace'],
} as const
type Plural = keyof typeof kinds

/** The resources that are requested from each view. */
const shown: Readonly<Record<Exclude<ViewName, 'migratingworkspaces'>, readonly Plural[]>> = {
  '': ['configmaps', 'configmaps', 'secrets', 'regions', 'workspaces'],
  apiexport: ['configmaps', 'configmaps', 'secrets', 'apibindings'],
  apiresourceschema: ['apiresourceschemas'],
  cache: ['apiexports', 'apiresourceschemas', 'apibindings'],
  initializingworkspaces: ['logicalclusters', 'configmaps', 'secrets'],
  mounts: ['kubeclusters'],
  replication: ['regions'],
  terminatingworkspaces: ['logicalclusters', 'configmaps', 'secrets'],
  workspaces: ['workspaces'],
}

/** Views with content of every kind get requests for all resources that need no special URL. */
const broad: readonly ViewName[] = ['', 'apiexport', 'initializingworkspaces', 'terminatingworkspaces']

function actionIn(view: ViewName, random: Random, cluster: string, isHttp: boolean): Action {
  if (view === 'migratingworkspaces')
    return { verb: 'get', cluster: oneOf(cluster), path: random.pick([dumps, dumps, '/apis', '/version']) }
  if (!isHttp && broad.includes(view) && random.chance(0.6)) {
    const { deep: _deep, ...action } = createAction(random, cluster)
    return action
  }
  const where = view === 'apiresourceschema' ? oneOf(cluster) : cluster
  const plural = random.pick(shown[view])
  if (plural === 'logicalclusters' && random.chance(0.4)) return about(random, '*', plural)
  const action = about(random, where, plural)
  return view === 'mounts' && random.chance(0.4) ? useOf(random, action) : action
}

const oneOf = (cluster: string): string => (cluster === '*' ? 'one' : cluster)

const names: Readonly<Partial<Record<Plural, readonly string[]>>> = {
  workspaces: [...childNames, 'none'],
  logicalclusters: ['cluster'],
  regions: ['r1', 'r2', 'r3', 'none'],
  apibindings: ['to-maker', 'to-seller'],
  apiexports: ['widgets', 'tenancy.kcp.io'],
}

function about(random: Random, cluster: string, plural: Plural): Action {
  const [group, version, resource] = kinds[plural]
  const verb = random.pick([...verbs, 'list', 'watch', 'get'])
  const isNamed = named.includes(verb)
  // Requests that need one namespace and one cluster do not name all of them, which is another error.
  const isWrite = !['list', 'watch'].includes(verb)
  const namespace = group !== '' ? '' : random.pick(isWrite ? namespaces : ['', ...namespaces])
  const name = isNamed ? random.pick(names[plural] ?? ['a', 'b', 'c']) : ''
  const hasStatus = ['get', 'update', 'patch'].includes(verb) && random.chance(0.15)
  const subresource = hasStatus ? 'status' : ''
  const where = isWrite ? oneOf(cluster) : cluster
  return { verb, cluster: where, resource: { group, version, resource, subresource, namespace, name } }
}

function useOf(random: Random, { cluster, resource, ...action }: Action): Action {
  if (resource === undefined) return { ...action, cluster }
  const verb = random.pick(['get', 'create', 'update', 'patch', 'delete'])
  return { verb, cluster: oneOf(cluster), resource: { ...resource, subresource: 'proxy', name: 'a' } }
}

/** The HTTP request for an action; none of them changes an object. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly contentType?: string
}

const methods: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
}

const hasBody: readonly string[] = ['create', 'update', 'patch']

/** A watch with initial events, and a bookmark at their end. */
const watching =
  '?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

const queryFor = (verb: string, method: string): string =>
  verb === 'watch' ? watching : method === 'GET' ? '' : '?dryRun=All'

/** The prefix of a view's URL. */
function prefixOf({ view, identifier }: ViewRequest): string {
  if (view === '') return ''
  if (['migratingworkspaces', 'mounts', 'workspaces'].includes(view)) return `/services/${view}`
  if (view === 'cache') return `/services/cache/shards/${identifier}`
  const isPair = view === 'apiexport' || view === 'replication'
  return `/services/${view}/${isPair ? identifier.replace(':', '/') : identifier}`
}

export function sentFor(request: ViewRequest): Sent {
  const { verb, cluster, resource, path: plain } = request.action
  const method = methods[verb] ?? ''
  const base = `${prefixOf(request)}/clusters/${cluster}`
  if (resource === undefined) return { method, path: base + plain }
  const { group, version, resource: plural, namespace, name, subresource } = resource
  const path = [
    base + (group === '' ? `/api/${version}` : `/apis/${group}/${version}`),
    ...(namespace === '' ? [] : ['namespaces', namespace]),
    plural,
    ...(name === '' ? [] : [name]),
    ...(subresource === 'proxy' ? ['proxy', 'api'] : subresource === '' ? [] : [subresource]),
  ].join('/')
  const contentType = verb === 'patch' ? 'application/merge-patch+json' : 'application/json'
  const apiVersion = group === '' ? version : `${group}/${version}`
  const object = { apiVersion, kind: kinds[plural as Plural][3], metadata: { name: name || 'new' } }
  const body = JSON.stringify(verb === 'patch' ? {} : object)
  return {
    method,
    path: path + queryFor(verb, method),
    ...(hasBody.includes(verb) && { body, contentType }),
  }
}
