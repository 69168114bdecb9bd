import type { WorkspaceFactory } from '../framework/index.ts'
import { apiexport } from './apiexport/index.ts'
import { apiresourceschema } from './apiresourceschema/index.ts'
import { cache } from './cache/index.ts'
import { initializingworkspaces } from './initializingworkspaces/index.ts'
import { migratingworkspaces } from './migratingworkspaces/index.ts'
import { mounts } from './mounts/index.ts'
import { namespaces } from './namespaces/index.ts'
import { query } from './query/index.ts'
import { replication } from './replication/index.ts'
import { terminatingworkspaces } from './terminatingworkspaces/index.ts'
import { views } from './views/index.ts'
import { workspaces as personalWorkspaces } from './workspaces/index.ts'

/**
 * The views of a kcp shard, in the order in which URLs are matched; also those of a process in front of a shard.
 */
const shardWorkspaces: readonly WorkspaceFactory[] = [
  apiexport,
  apiresourceschema,
  initializingworkspaces,
  replication,
  terminatingworkspaces,
  migratingworkspaces,
]

/** All views of a process in front of a shard. */
export const remoteWorkspaces: readonly WorkspaceFactory[] = [
  ...shardWorkspaces,
  personalWorkspaces,
  namespaces,
]

/** All views that a server offers. */
export const workspaces: readonly WorkspaceFactory[] = [...remoteWorkspaces, cache, mounts, query, views]
