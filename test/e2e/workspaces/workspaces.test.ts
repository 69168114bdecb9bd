import { startServer } from '../../support/servers/kcp.ts'
import { startStandalone } from '../../support/servers/standalone.ts'
import { namespaceFlows } from './namespaces.suite.ts'
import { personalFlows } from './personal.suite.ts'

const inFront = (flags: readonly string[]) => startStandalone([], flags)

/** kcp has no such views. */
if (!process.env.KCP_BIN) {
  describe('the workspaces of the user', personalFlows(startServer))
  describe('the namespaces of the user', namespaceFlows(startServer))
}
describe('the workspaces of the user, in front of a shard', personalFlows(inFront))
describe('the namespaces of the user, in front of a shard', namespaceFlows(inFront))
