import { type ClusterName, isSystemCluster } from '../../framework/meta/object.ts'
import { isClusterName } from '../../framework/request/path.ts'
import { type LabelSelector, matchesLabels } from '../../framework/selectors/selectors.ts'
import {
  chosenClusterAnnotation,
  shardAnnotation,
  shardHashAnnotation,
  unschedulableAnnotation,
  workspaceFinalizer,
} from '../../kcp/annotations.ts'
import type { Shard } from '../../kcp/core.ts'
import { regionLabel } from '../../kcp/labels.ts'
import { shardHash, workspaceClusterName } from '../../kcp/names.ts'
import { expressionProblem, requirementsOf } from '../../kcp/selector.ts'
import type { Workspace } from '../../kcp/tenancy.ts'
import { withMetadata } from '../registry/strategy.ts'
import type { ClusterDirectory } from './directory.ts'

/** The shard and name of the logical cluster of a workspace, or why there is none. */
export type Placement = ShardAssignment | { readonly problem: string }

export interface ShardAssignment {
  readonly shard: Shard
  readonly cluster: ClusterName
  /** The URL for clients, by path. */
  readonly URL: string
}

/**
 * A random schedulable shard that matches the selector of the workspace, and an unused name (kcp
 * `workspace_reconcile_scheduling.go`).
 */
export function placementOf(
  directory: ClusterDirectory,
  { parent, name }: Position,
  { spec }: Workspace,
): Placement {
  const wanted = spec?.location?.selector ?? {}
  const wrong = expressionProblem(wanted)
  if (wrong !== undefined) return { problem: `spec.location.selector is invalid: ${wrong}` }
  const shard = chosen(directory.shards(), requirementsOf(wanted))
  if (shard === undefined) return { problem: 'No available shards to schedule the workspace' }
  const cluster = spec?.cluster || freeName(directory)
  if (!isClusterName(cluster) || isSystemCluster(cluster))
    return { problem: `spec.cluster is invalid: ${JSON.stringify(cluster)}` }
  return { shard, cluster, URL: urlOn(directory, shard, { parent, name }) }
}

/** The position of a workspace in the tree. */
export interface Position {
  readonly parent: ClusterName
  readonly name: string
}

/** `https://…/clusters/root:org:team` */
export const urlOn = (directory: ClusterDirectory, { spec }: Shard, { parent, name }: Position): string =>
  `${spec?.externalURL ?? spec?.baseURL ?? ''}/clusters/${directory.path(parent)}:${name}`

function chosen(shards: readonly Shard[], selector: LabelSelector): Shard | undefined {
  const fitting = shards.filter(
    ({ metadata: { labels = {}, annotations = {} } }) =>
      !(unschedulableAnnotation in annotations) && matchesLabels(selector, labels),
  )
  return fitting[Math.floor(Math.random() * fitting.length)]
}

function freeName(directory: ClusterDirectory): ClusterName {
  for (;;) {
    const name = workspaceClusterName()
    if (directory.logicalCluster(name) === undefined) return name
  }
}

/**
 * The workspace with its shard and logical cluster, written before the logical cluster exists: a crash between the
 * two writes does no harm.
 */
export function placed(workspace: Workspace, { shard, cluster, URL }: ShardAssignment): Workspace {
  const { annotations = {}, finalizers = [] } = workspace.metadata
  const { name = '', labels } = shard.metadata
  const spec = { ...workspace.spec, cluster, URL }
  return withMetadata({ ...workspace, spec } as Workspace, {
    annotations: {
      ...annotations,
      [shardAnnotation]: name,
      [shardHashAnnotation]: shardHash(name),
      [chosenClusterAnnotation]: cluster,
    },
    labels: regional(workspace, labels?.[regionLabel]),
    finalizers: [...finalizers.filter(each => each !== workspaceFinalizer), workspaceFinalizer],
  }) as Workspace
}

function regional({ metadata: { labels = {} } }: Workspace, region: string | undefined): unknown {
  const { [regionLabel]: _, ...others } = labels
  return region === undefined ? others : { ...others, [regionLabel]: region }
}
