import { startServer } from '../../support/servers/kcp.ts'
import { startStandalone } from '../../support/servers/standalone.ts'
import { schemaFlows } from './apiresourceschema.suite.ts'

/** `KCP_BIN=… npm run test:kcp` runs it against kcp, and with the view in front of kcp. */
describe('the apiresourceschema view', schemaFlows(startServer))
describe(
  'the apiresourceschema view in front of a shard',
  schemaFlows(args => startStandalone([], args)),
)
