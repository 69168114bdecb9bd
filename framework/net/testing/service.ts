import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { silent } from '../../contract/log.ts'
import { createMetrics } from '../../metrics/metrics.ts'
import type { Service } from '../../server/serve.ts'
import { createOutbound } from '../outbound.ts'

export const service: Service = {
  log: silent,
  metrics: createMetrics(),
  requestTimeout: 60_000,
  stopping: new AbortController().signal,
}

const loopback = { allow: ['127.0.0.1'], allowHttp: true }

export const outbound = createOutbound(loopback)

/** For endpoints that do not respond. */
export const impatientOutbound = createOutbound({ ...loopback, responseTimeout: 300 })

export const portOf = (server: Server): number => (server.address() as AddressInfo).port
