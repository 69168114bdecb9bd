import { forbiddenTo } from '../framework/contract/authorizer.ts'
import type { RequestContext } from '../framework/contract/context.ts'
import { internalError, tooManyRequests } from '../framework/meta/errors.ts'
import type { ClusterName, KubeObject, ObjectKey } from '../framework/meta/object.ts'
import type { UserInfo } from '../framework/request/user.ts'
import {
  ownerAnnotation,
  pathAnnotation,
  resourceBindingsAnnotation,
  shardAnnotation,
  typeAnnotation,
} from '../kcp/annotations.ts'
import { tenancyGroup } from '../kcp/apigroups.ts'
import type { LogicalCluster } from '../kcp/core.ts'
import { logicalClusterName } from '../kcp/logicalclusters.ts'
import { homeClusterName, homePath } from '../kcp/names.ts'
import { ownerOf } from '../kcp/owner.ts'
import { resources } from '../kcp/resources.ts'
import { createIfMissing } from './controllers/client.ts'
import type { ShardHost } from './controllers/host.ts'
import { lifecycleOf } from './controllers/workspaces/logicalclustercreation.ts'
import type { ClusterDirectory } from './tenancy/directory.ts'

/** The dependencies of home workspaces. */
export interface Homes {
  readonly host: Pick<ShardHost, 'backend' | 'client'>
  readonly directory: ClusterDirectory
  /** The shard's name. */
  readonly shard: string
}

/** Milliseconds in which a home workspace has to be created. */
const longest = 60_000
const type = { path: 'root', name: 'home' }
const workspaces = { group: tenancyGroup, resource: 'workspaces' }

/**
 * `GET workspaces/~` in root: the caller's home workspace, created at the first request (kcp
 * `pkg/server/home_workspaces.go`). Only its LogicalCluster is stored. undefined for all other names.
 */
export async function homeWorkspace(
  homes: Homes,
  ctx: RequestContext,
  key: ObjectKey,
): Promise<KubeObject | undefined> {
  if (key.cluster !== 'root' || key.name !== '~') return undefined
  const cluster = homeClusterName(ctx.actAs.name)
  const home = homes.directory.logicalCluster(cluster)
  if (home !== undefined && home.status?.phase !== 'Initializing') return shown(cluster, home)
  if (home === undefined) await make(homes, ctx, cluster)
  else if (Date.now() - Date.parse(home.metadata.creationTimestamp ?? '') > longest)
    throw internalError('home workspace creation timeout')
  throw tooManyRequests('Creating the home workspace', 1)
}

async function make(
  { host, directory, shard }: Homes,
  ctx: RequestContext,
  cluster: ClusterName,
): Promise<void> {
  const target = { ...workspaces, version: 'v1alpha1', subresource: '', namespace: '', name: '~' }
  const { authorizer } = host.backend
  const may = await authorizer.authorize(
    ctx.actAs,
    { verb: 'create', cluster: 'root', resource: target },
    ctx.signal,
  )
  if (may.effect !== 'allow')
    throw forbiddenTo(
      ctx.actAs,
      { ...target, isResource: true, verb: 'create', path: '' },
      'workspace access not permitted',
    )
  const located = directory.workspaceType(type, 'root')
  const { initializers = [] } = located === undefined ? {} : lifecycleOf(directory.typeChain(located))
  const object = logicalClusterOf(ctx.actAs, shard, initializers)
  await createIfMissing(host.client, resources.logicalClusters, cluster, object)
}

const logicalClusterOf = (
  user: UserInfo,
  shard: string,
  initializers: readonly string[],
): LogicalCluster => ({
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'LogicalCluster',
  metadata: {
    name: logicalClusterName,
    annotations: {
      [typeAnnotation]: `${type.path}:${type.name}`,
      [pathAnnotation]: homePath(user.name),
      [ownerAnnotation]: JSON.stringify(ownerOf(user)),
      [shardAnnotation]: shard,
      [resourceBindingsAnnotation]: '{}',
    },
  },
  spec: { createdBy: ownerOf(user), initializers },
})

/** A Workspace that is not stored. */
function shown(cluster: ClusterName, { metadata, status = {} }: LogicalCluster): KubeObject {
  const { URL, phase, conditions, initializers = [] } = status
  return {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: {
      name: logicalClusterName,
      creationTimestamp: metadata.creationTimestamp ?? '',
    },
    spec: { cluster, URL },
    status: { phase, conditions, ...(initializers.length === 0 ? {} : { initializers }) },
  }
}
