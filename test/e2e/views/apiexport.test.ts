import { startServer } from '../../support/servers/kcp.ts'
import { apiexportFlows } from './apiexport.suite.ts'

/** With `KCP_BIN=… npx mocha …` it runs against kcp. */
describe('the apiexport view', apiexportFlows(startServer))
