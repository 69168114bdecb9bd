import { startServer } from '../../support/servers/kcp.ts'
import { lifecycleFlows } from './lifecycle/flows.suite.ts'

/** Also the judge's own: `KCP_BIN=… npx mocha …` runs it against real kcp. */
describe('the initializing and terminating views', lifecycleFlows(startServer))
