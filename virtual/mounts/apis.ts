import { knownUser } from '../../authz/index.ts'
import type { ConnectRequest } from '../../framework/contract/apis.ts'
import type { Forwarding, HeaderFields, Outbound } from '../../framework/contract/upstream.ts'
import {
  type ApiSet,
  apiSetOf,
  type Host,
  type RequestContext,
  type ResourceRef,
  serviceUnavailable,
  type UserInfo,
} from '../../framework/index.ts'
import { refuseLoop } from '../../framework/request/incoming.ts'
import { apiResourcesOf, compileCached, type KindDefinition } from '../../openapi/index.ts'
import { clusterIdentityOf } from './clusteridentity.ts'
import type { Mounts } from './mounts.ts'
import type { KubeCluster } from './types.ts'

interface ApisOptions {
  readonly host: Host
  readonly outbound: Outbound
  readonly resource: ResourceRef
  readonly definition: KindDefinition
  readonly mounts: Mounts
}

/** KubeClusters, read-only, and the cluster behind each of them: `…/kubeclusters/<name>/proxy/…`. */
export function mountApis({ host, outbound, resource, definition, mounts }: ApisOptions): ApiSet {
  const storage = host.backend.storage(resource)
  const proxy = {
    name: 'proxy',
    kind: definition.names.kind,
    verbs: ['create', 'delete', 'get', 'patch', 'update'] as const,
    storage,
    schema: compileCached({ type: 'object' }),
    connect: async (ctx: RequestContext, request: ConnectRequest) =>
      forwardingTo({ outbound, mounts }, ctx, request),
  }
  const served = apiResourcesOf(definition, {
    storage: () => storage,
    custom: true,
    verbs: ['get', 'list', 'watch'],
    subresources: [proxy],
  })
  return apiSetOf(served.map(each => ({ ...each, subresources: [proxy] })))
}

/** Throws 503 for a mount that is not ready. */
function forwardingTo(
  { outbound, mounts }: Pick<ApisOptions, 'outbound' | 'mounts'>,
  ctx: RequestContext,
  { incoming, rest }: ConnectRequest,
): Forwarding {
  const { info, cluster, user } = ctx
  const name = info.isResource ? info.name : ''
  const mount = mounts.find(cluster, name)
  if (mount?.phase !== 'Ready' || mount.endpoint === undefined)
    throw serviceUnavailable(
      `Not available: the phase of KubeCluster ${JSON.stringify(name)} is ${mount?.phase ?? 'unknown'}`,
    )
  refuseLoop(incoming)
  const identity = identityFields(mount.item.object as KubeCluster, user, cluster)
  const endpoint = { ...mount.endpoint, headers: { ...mount.endpoint.headers, ...identity } }
  const here = rest === '' ? incoming.path : incoming.path.slice(0, -rest.length)
  const inner = outbound.forwarding({ incoming, endpoint, path: rest, seenAs: here })
  const { replaced } = mount
  return {
    forward(client) {
      client.lifetime.follow(replaced, 'replaced')
      return inner.forward(client)
    },
  }
}

const originKey = 'mounts.contrib.kcp.io/cluster'

/**
 * The user that the stored credentials impersonate. The prefix prevents callers from impersonating users of the other
 * cluster, above all its `system:` users and groups.
 */
export function identityFields(mount: KubeCluster, user: UserInfo, cluster: string): HeaderFields {
  const { mode, prefix } = clusterIdentityOf(mount)
  if (mode === 'Shared') return {}
  const { name, groups } = knownUser(user, cluster)
  return {
    'Impersonate-User': safe(prefix + name),
    ...(groups.length > 0 && { 'Impersonate-Group': groups.map(group => safe(prefix + group)) }),
    [`Impersonate-Extra-${encodeURIComponent(originKey)}`]: cluster,
  }
}

/** ASCII without spaces at the ends. Not `%`: the name could be the encoded form of another one. */
const plain = /^(?! )[ -$&-~]*(?<! )$/

/** Header values are bytes, and lose spaces at their ends: other names could arrive as another name. */
const safe = (name: string): string => (plain.test(name) ? name : encodeURIComponent(name))
