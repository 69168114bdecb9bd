import type { ClusterName } from '../../../framework/meta/object.ts'
import { shardAnnotation } from '../../../kcp/annotations.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { resources } from '../../../kcp/resources.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { begun } from '../../admission/kcp/logicalcluster.ts'
import { mirrorWorkspace } from '../../admission/kcp/metadata.ts'
import { replacementOf, type Stored } from '../../bindings/content.ts'
import { creationOf, storedResourceOf } from '../../manifests/apply.ts'
import { releaseDefaults } from '../exports/defaultbindings.ts'
import { hasOnlyBuiltinInitializers, initializationOf, storeMissing } from './initialization.ts'
import { readyAfter } from './logicalclusterstatus.ts'
import { target, type WorkspaceStep } from './workspacehome.ts'
import { workspaceStatus } from './workspacestatus.ts'

/**
 * Stores a LogicalCluster that only the server initializes in one commit with its content and the status of its
 * Workspace: both are Ready at once. False: it is on another shard, it waits for others, or the Workspace has changed.
 */
export async function createReady(
  step: WorkspaceStep,
  workspace: Workspace,
  cluster: ClusterName,
  object: LogicalCluster,
): Promise<boolean> {
  const { deps } = step
  const stored = storedWorkspace(step, workspace)
  const created = begun(object)
  if (stored === undefined || isElsewhere(step, workspace) || waitsForOthers(created)) return false
  const initialization = initializationOf(deps, cluster, created)
  const ready = readyAfter(deps, cluster, created, { initialization })
  if (ready === undefined) {
    releaseDefaults(deps, initialization.missing.bindings)
    return false
  }
  const status = workspaceStatus(workspace, ready)
  await storeMissing(deps, initialization, [
    creationOf({ cluster, resource: resources.logicalClusters, object: ready }),
    replacementOf(stored, mirrorWorkspace({ ...workspace, status })),
  ])
  return true
}

/** undefined: it has changed since it was read. */
function storedWorkspace(step: WorkspaceStep, { metadata }: Workspace): Stored | undefined {
  const [resource, key] = target(step)
  const stored = step.deps.content.get(storedResourceOf(resource), key)
  return stored?.item.meta.resourceVersion === metadata.resourceVersion ? stored : undefined
}

const isElsewhere = ({ deps }: WorkspaceStep, { metadata }: Workspace): boolean =>
  (metadata.annotations?.[shardAnnotation] ?? deps.shard.name) !== deps.shard.name

const waitsForOthers = (object: LogicalCluster): boolean =>
  !hasOnlyBuiltinInitializers(object) || (object.status?.terminators ?? []).length > 0
