import type { Action } from '../../framework/contract/authorizer.ts'
import { everyVerb } from '../support/widgets.ts'
import type { Random } from './random.ts'
import { namespaces } from './world.ts'

const asked = [...everyVerb, 'bind'] as const

const kinds: readonly (readonly [string, string, string])[] = [
  ['', 'configmaps', ''],
  ['', 'configmaps', ''],
  ['', 'secrets', ''],
  ['example.com', 'widgets', ''],
  ['example.com', 'widgets', 'status'],
  ['example.com', 'gadgets', ''],
  ['example.com', 'gadgets', ''],
  ['example.com', 'regions', ''],
  ['apis.kcp.io', 'apibindings', ''],
  ['apis.kcp.io', 'apibindings', 'status'],
  ['apis.kcp.io', 'apiexports', 'content'],
  ['apis.kcp.io', 'apiexports', 'status'],
  ['tenancy.kcp.io', 'workspaces', ''],
  ['tenancy.kcp.io', 'workspacetypes', ''],
]

/** A request in a cluster. */
export function createAction(random: Random, cluster: string): Action {
  if (random.chance(0.15)) {
    const verb = random.pick(['get', 'get', 'head', 'post', 'access'])
    return {
      verb,
      cluster,
      path: random.pick(['/', '/metrics', '/healthz', '/apis', '/apis/example.com', '/version', '/api']),
    }
  }
  const verb = random.pick(asked)
  const [group, resource, subresource] = random.pick(kinds)
  const namespace = group.endsWith('kcp.io') ? '' : random.pick(['', ...namespaces])
  const named = ['get', 'update', 'patch', 'delete', 'bind'].includes(verb)
  const name = named ? random.pick(['a', 'b', 'widgets']) : ''
  const deep = random.chance(0.05) ? { deep: true } : {}
  return {
    verb,
    cluster,
    resource: { group, version: 'v1', resource, subresource, namespace, name },
    ...deep,
  }
}
