import { knownUser } from '../../../authz/index.ts'
import { unlessAborted } from '../../../framework/async/awaitable.ts'
import type { ClusterName, Host, Informer, Item, RequestContext } from '../../../framework/index.ts'
import { anonymous, isPrivileged, type UserInfo } from '../../../framework/request/user.ts'
import {
  creatorOf,
  exportedResources,
  ownerAnnotation,
  readOwner,
  resources,
  type Workspace,
} from '../../../kcp/index.ts'
import { workspacesRef } from '../exports/tenancy.ts'
import { Access } from './access.ts'
import type { Visibility } from './visibility.ts'

/**
 * Users see the workspaces that they can access, or update in the parent. Before a workspace is ready, its creator sees
 * it. A mounted workspace needs access to its parent.
 */
export function workspaceVisibility(host: Host): Visibility {
  const { informers, otherShards } = host
  const inside = (cluster: ClusterName): readonly Item[] => workspaces()?.index(insideOf)(cluster) ?? []
  const access = new Access(host, cluster => inside(cluster).map(({ key }) => key.cluster))
  const workspaces = (): Informer | undefined => {
    const ref = workspacesRef(informers.for(resources.apiExports))
    return ref && informers.for(ref)
  }
  const all: Visibility['all'] = cluster => workspaces()?.list(cluster === '*' ? undefined : cluster) ?? []
  const isElsewhere = (cluster: ClusterName): boolean => otherShards?.has(cluster) === true
  return {
    access,
    async ready(signal) {
      await access.ready(signal)
      await unlessAborted(signal, informers.for(resources.apiExports).synced)
      await unlessAborted(signal, workspaces()?.synced ?? Promise.resolve())
    },
    isVisible: (ctx, item) => isVisible({ access, host }, ctx, item),
    all,
    dependsOn: item => [item.key.cluster, ...insideOf(item)],
    dependingOn: cluster => [...all(cluster), ...inside(cluster)],
    elsewhere: scope =>
      otherShards === undefined ? [] : [...new Set(all(scope).flatMap(insideOf).filter(isElsewhere))],
  }
}

/** The logical cluster of a workspace; none before it is scheduled. */
function insideOf({ object }: Item): readonly ClusterName[] {
  const { cluster } = (object as Workspace).spec ?? {}
  return cluster ? [cluster] : []
}

interface Deciding {
  readonly access: Access
  readonly host: Host
}

async function isVisible(deciding: Deciding, ctx: RequestContext, item: Item): Promise<boolean> {
  const { user, signal } = ctx
  if (isPrivileged(user) || isCreatorOfNew(item, user)) return true
  const { access } = deciding
  // For all workspaces of the parent first, which is one question.
  if (await access.allows(user, updateOf(item, ''), signal)) return true
  if (await mayEnter(deciding, ctx, item)) return true
  return access.allows(user, updateOf(item, item.key.name), signal)
}

async function mayEnter({ access, host }: Deciding, ctx: RequestContext, item: Item): Promise<boolean> {
  const { spec } = item.object as Workspace
  const cluster = spec?.mount === undefined ? insideOf(item)[0] : item.key.cluster
  if (cluster === undefined) return false
  if (host.otherShards?.has(cluster)) return host.otherShards.mayAccess(ctx.user, cluster)
  return access.allows(ctx.user, { verb: 'access', cluster, path: '/' }, ctx.signal)
}

const updateOf = ({ key }: Item, name: string) => ({
  verb: 'update',
  cluster: key.cluster,
  resource: { ...exportedResources.workspaces, subresource: '', namespace: '', name },
})

/** Names are compared as the parent knows them: a service account of another logical cluster can have the name of the creator. */
export function isCreatorOfNew({ key: { cluster }, object, meta }: Item, user: UserInfo): boolean {
  const { phase } = (object as Workspace).status ?? {}
  const isNew = phase === undefined || phase === 'Scheduling' || phase === 'Initializing'
  const owner = isNew ? readOwner(meta.annotations[ownerAnnotation]) : undefined
  if (owner === undefined) return false
  const { name } = knownUser(user, cluster)
  return name !== anonymous.name && name === knownUser(creatorOf(owner), cluster).name
}
