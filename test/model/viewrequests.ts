import type { Action } from '../../framework/authorizer.ts'
import type { UserInfo } from '../../framework/user.ts'
import type { Random } from './random.ts'
import { childNames, identifiers } from './tree.ts'
import { dumps, type ViewRequest } from './viewsoracle.ts'
import { consumers, createAction, everywhere, namespaces } from './world.ts'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const
const named: readonly string[] = ['get', 'update', 'patch', 'delete']

/** Their URLs have another form. */
const inProcess = ['apiresourceschema', 'migratingworkspaces'] as const

/** Somebody's try at one of the views of the tree. `isHttp`: only what a URL can ask for. */
export function createViewRequest(random: Random, user: UserInfo, isHttp: boolean): ViewRequest {
  const view = random.pick([
    'initializingworkspaces',
    'terminatingworkspaces',
    'mounts',
    ...(isHttp ? (['workspaces', 'workspaces'] as const) : inProcess),
  ] as const)
  const cluster = random.pick([...consumers, ...consumers, ...everywhere])
  const identifier = random.pick(identifiers)
  return { view, identifier, user, action: actionIn(view, random, cluster, isHttp) }
}

function actionIn(view: ViewRequest['view'], random: Random, cluster: string, isHttp: boolean): Action {
  if (view === 'mounts') return aboutMounts(random, cluster)
  if (view === 'migratingworkspaces')
    return { verb: 'get', cluster, path: random.pick([dumps, dumps, '/apis', '/version']) }
  if (view === 'workspaces') return about(random, cluster, ['tenancy.kcp.io', 'v1alpha1', 'workspaces'])
  if (random.chance(0.4)) {
    const where = random.chance(0.4) ? '*' : cluster
    return about(random, where, ['core.kcp.io', 'v1alpha1', 'logicalclusters'])
  }
  if (isHttp) return about(random, cluster, ['', 'v1', random.pick(['configmaps', 'secrets'])])
  const { deep: _deep, ...action } = createAction(random, cluster)
  return action
}

const names: Readonly<Record<string, readonly string[]>> = {
  workspaces: [...childNames, 'none'],
  logicalclusters: ['cluster'],
}

type Kind = readonly [group: string, version: string, resource: string]

function about(random: Random, cluster: string, [group, version, resource]: Kind): Action {
  const verb = random.pick([...verbs, 'list', 'list'])
  const isNamed = named.includes(verb)
  // What needs one namespace, and one cluster, is not asked of all of them: that is another error.
  const isWrite = !['list', 'watch'].includes(verb)
  const namespace = group !== '' ? '' : random.pick(isWrite ? namespaces : ['', ...namespaces])
  const name = isNamed ? random.pick(names[resource] ?? ['a', 'b']) : ''
  const where = cluster === '*' && isWrite ? 'one' : cluster
  return { verb, cluster: where, resource: { group, version, resource, subresource: '', namespace, name } }
}

function aboutMounts(random: Random, cluster: string): Action {
  const action = about(random, cluster, ['mounts.contrib.kcp.io', 'v1alpha1', 'kubeclusters'])
  const { resource } = action
  if (resource === undefined || random.chance(0.5)) return action
  const verb = random.pick(['get', 'create', 'update', 'patch', 'delete'])
  return {
    verb,
    cluster: cluster === '*' ? 'two' : cluster,
    resource: { ...resource, subresource: 'proxy', name: 'a' },
  }
}

/** What is sent for an action; nothing that is sent changes anything. */
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

const kinds: Readonly<Record<string, string>> = {
  configmaps: 'ConfigMap',
  secrets: 'Secret',
  logicalclusters: 'LogicalCluster',
  workspaces: 'Workspace',
  kubeclusters: 'KubeCluster',
}

const hasBody: readonly string[] = ['create', 'update', 'patch']

export function sentFor({ view, identifier, action }: ViewRequest): Sent {
  const { verb, cluster, resource } = action
  const method = methods[verb] ?? ''
  const params = view === 'mounts' || view === 'workspaces' ? '' : `/${identifier}`
  const base = `/services/${view}${params}/clusters/${cluster}`
  if (resource === undefined) return { method, path: base + action.path }
  const { group, version, resource: plural, namespace, name, subresource } = resource
  const path = [
    base + (group === '' ? `/api/${version}` : `/apis/${group}/${version}`),
    ...(namespace === '' ? [] : ['namespaces', namespace]),
    plural,
    ...(name === '' ? [] : [name]),
    ...(subresource === '' ? [] : [subresource, 'api']),
  ].join('/')
  const query = verb === 'watch' ? '?watch=true' : method === 'GET' ? '' : '?dryRun=All'
  const contentType = verb === 'patch' ? 'application/merge-patch+json' : 'application/json'
  const apiVersion = group === '' ? version : `${group}/${version}`
  const object = { apiVersion, kind: kinds[plural], metadata: { name: name || 'new' } }
  const body = JSON.stringify(verb === 'patch' ? {} : object)
  return { method, path: path + query, ...(hasBody.includes(verb) && { body, contentType }) }
}
