import { startServer } from '../../support/servers/kcp.ts'
import { lifecycleFlows } from './lifecycle/flows.suite.ts'

/** With `KCP_BIN=… npx mocha …` it runs against kcp. */
describe('the initializing and terminating views', lifecycleFlows(startServer))
