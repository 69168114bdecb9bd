import type { WorkspaceFactory } from '../framework/index.ts'
import { apiexport } from './apiexport/index.ts'
import { apiresourceschema } from './apiresourceschema/index.ts'
import { cache } from './cache/index.ts'
import { initializingworkspaces } from './initializingworkspaces/index.ts'
import { migratingworkspaces } from './migratingworkspaces/index.ts'
import { mounts } from './mounts/index.ts'
import { replication } from './replication/index.ts'
import { terminatingworkspaces } from './terminatingworkspaces/index.ts'
import { workspaces as personalWorkspaces } from './workspaces/index.ts'

/** The views that a kcp shard brings along, in the order in which a URL is matched: what runs in front of one, too. */
export const shardWorkspaces: readonly WorkspaceFactory[] = [
  apiexport,
  apiresourceschema,
  initializingworkspaces,
  replication,
  terminatingworkspaces,
  migratingworkspaces,
]

/** The menu: every view that a server offers. */
export const workspaces: readonly WorkspaceFactory[] = [...shardWorkspaces, cache, mounts, personalWorkspaces]
