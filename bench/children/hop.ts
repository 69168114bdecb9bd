import { silent } from '../../framework/contract/log.ts'
import { createMetrics } from '../../framework/metrics/metrics.ts'
import { createOutbound } from '../../framework/net/outbound.ts'
import { type Listener, listen } from '../../framework/server/listener.ts'
import { type Handler, serve } from '../../framework/server/serve.ts'
import { childOptions, serveTasks } from '../tools/child.ts'
import type { Address } from '../tools/connection.ts'

/** One hop to another server on this machine, as for requests to mounts, in a separate process. */
const { port } = childOptions<Address>()
const outbound = createOutbound({ allow: ['127.0.0.1'], allowHttp: true })
const endpoint = { url: `http://127.0.0.1:${port}` }
const service = {
  log: silent,
  metrics: createMetrics(),
  requestTimeout: 60_000,
  stopping: new AbortController().signal,
}

const handler: Handler = async ({ incoming, lifetime }) => {
  lifetime.limit(undefined)
  return outbound.forwarding({ incoming, endpoint, path: incoming.path, seenAs: '' })
}

const listener: Listener = await listen(
  { host: '127.0.0.1', port: 0 },
  (request, response) => void serve(service, { request, response }, handler),
)

const tasks = {
  address: (): Address => ({ port: listener.port }),
  cpu: () => process.cpuUsage(),
}

export type HopTasks = typeof tasks

serveTasks(tasks, () => listener.drain(0))
