import { startStandalone } from '../support/standalone.ts'
import { apiexportFlows } from './apiexport.ts'
import { lifecycleFlows } from './lifecycle.ts'

/** The views in a process of their own: `KCP_BIN=… npm run test:kcp` puts them in front of real kcp. */
describe('the apiexport view in front of a shard', apiexportFlows(startStandalone))
describe('the views of life cycles in front of a shard', lifecycleFlows(startStandalone))
