import { startServer } from '../../support/servers/kcp.ts'
import { startStandalone } from '../../support/servers/standalone.ts'
import { migrationFlows } from './migratingworkspaces.suite.ts'

/** `KCP_BIN=… npm run test:kcp` runs it against kcp, and with the view in front of kcp. */
describe('the migratingworkspaces view', migrationFlows(startServer))
describe(
  'the migratingworkspaces view in front of a shard',
  migrationFlows(args => startStandalone([], args)),
)
