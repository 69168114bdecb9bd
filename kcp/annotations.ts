import { clusterAnnotation, isCopied } from '../framework/contract/item.ts'
import type { KubeObject } from '../framework/meta/object.ts'

// Annotations and finalizers of kcp.

export { clusterAnnotation }

export const pathAnnotation = 'kcp.io/path'
/** `<path>:<name>` of a logical cluster's workspace type. */
export const typeAnnotation = 'internal.tenancy.kcp.io/type'
/** JSON of the UserInfo of the creator; only the username once the workspace is Ready. */
export const ownerAnnotation = 'experimental.tenancy.kcp.io/owner'
/** On a Workspace: the mount in versions of kcp before `spec.mount`. */
export const mountAnnotation = 'experimental.tenancy.kcp.io/mount'
export const requiredGroupsAnnotation = 'authorization.kcp.io/required-groups'
export const shardAnnotation = 'core.kcp.io/shard'
export const shardHashAnnotation = 'internal.tenancy.kcp.io/shard'
/** On a Workspace: the name of its logical cluster, set before that is created. */
export const chosenClusterAnnotation = 'internal.tenancy.kcp.io/cluster'
/** On a LogicalCluster that moves to another shard: `<logical cluster>:<name>` of its LogicalClusterMigration. */
export const migratingAnnotation = 'internal.kcp.io/migrating'
/** The prefix of annotations that shards of Oriel write, above all on logical clusters that move: no other program has them. */
export const ownAnnotationPrefix = 'internal.oriel.dev/'
/** On the same, where it moves to: the name of the shard that it comes from. */
export const incomingAnnotation = 'internal.oriel.dev/incoming'
/** On the same, where it comes from, once its objects are being removed there: the name of the shard that has them. */
export const leavingAnnotation = 'internal.oriel.dev/leaving'
/**
 * On the same, where it comes from, if it moves to a shard of kcp: one of `dumpStates`. That shard does not remove again what it has
 * copied.
 */
export const dumpAnnotation = 'internal.oriel.dev/dump'
/**
 * Whether the shard of kcp has asked for entries, has got the last ones (`sent,<revision since which it is closed>`), or gets none: a
 * migration ends before its switch only without, and objects are removed only after the last ones.
 */
export const dumpStates = { awaited: 'awaited', begun: 'begun', sent: 'sent', refused: 'refused' } as const
/**
 * On a LogicalCluster that has moved: the revision of its arrival here, the last one of the shard before, and how often
 * it moved, `12,345,1`.
 */
export const movedAnnotation = 'internal.oriel.dev/moved'
/**
 * On a Workspace and its LogicalCluster: the types that it was created with, bases first, as `<logical cluster>:<name>` with commas
 * between them. The user was permitted to use these; their paths may lead to other types later.
 */
export const admittedTypesAnnotation = 'internal.oriel.dev/workspace-types'
/**
 * On a WorkspaceType: the logical clusters of the exports of its default bindings, as JSON, `{"root:org|widgets":"<logical cluster>"}`.
 * The author was permitted to bind these exports; their paths may lead to others later.
 */
export const defaultExportsAnnotation = 'internal.oriel.dev/default-exports'
export const inactiveAnnotation = 'core.kcp.io/inactive'
/** On a LogicalCluster: the maximum number of objects. */
export const maxObjectsAnnotation = 'core.kcp.io/max-total-objects'
/** On a ResourceQuota in the namespace `admin`: it limits the whole logical cluster. */
export const clusterScopedQuotaAnnotation = 'experimental.quota.kcp.io/cluster-scoped'
/** On a LogicalCluster: the owner of each bound resource, `{"widgets.example.io":{"n":"<binding>"}}`. */
export const resourceBindingsAnnotation = 'internal.apis.kcp.io/resource-bindings'
export const skipEndpointSliceAnnotation = 'apiexports.apis.kcp.io/skip-endpointslice'
/** Annotations of an export with this prefix are copied to its bindings. */
export const extraAnnotationPrefix = 'extra.apis.kcp.io/'

/** On a ClusterCachedResource: kind and scope of what it publishes. */
export const resourceKindAnnotation = 'cache.kcp.io/resource-kind'
export const resourceScopeAnnotation = 'cache.kcp.io/resource-scope'

/** On copies in a cache server: the version and the uid of the original. */
export const originalVersionAnnotation = 'cache.kcp.io/original-resource-version'
export const originalUidAnnotation = 'cache.kcp.io/original-resource-UID'

/** On a Shard: no workspace is scheduled there, whatever the value. */
export const unschedulableAnnotation = 'experimental.core.kcp.io/unschedulable'

export const workspaceFinalizer = 'core.kcp.io/logicalcluster'
export const logicalClusterFinalizer = 'core.kcp.io/logicalcluster-deletion'
/** On a LogicalCluster while its status has terminators. */
export const terminatorsFinalizer = 'kcp.io/has-terminators'
export const bindingFinalizer = 'apis.kcp.io/apibinding-finalizer'
export const migrationFinalizer = 'migration.kcp.io/logicalclustermigration'
export const cachedResourceFinalizer = 'cache.kcp.io/clustercachedresource'

/** The logical cluster that the annotation of an object names; '' without one (`logicalcluster.From`). */
export const logicalClusterOf = ({ metadata }: KubeObject): string =>
  metadata.annotations?.[clusterAnnotation] ?? ''

/** Whether the object is a copy of an object of another shard, which the controllers of this shard ignore. */
export const isCopy = ({ metadata: { annotations = {} } }: KubeObject): boolean => isCopied({ annotations })
