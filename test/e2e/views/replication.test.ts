import { startServer } from '../../support/servers/kcp.ts'
import { startStandalone } from '../../support/servers/standalone.ts'
import { replicationFlows } from './replication/flows.suite.ts'

/** `KCP_BIN=… npm run test:kcp` runs it against kcp, and with the view in front of kcp. */
describe('the replication view', replicationFlows(startServer))
describe(
  'the replication view in front of a shard',
  replicationFlows(args => startStandalone([], args)),
)
