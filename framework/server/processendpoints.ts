import type { Metrics } from '../metrics/metrics.ts'
import { CpuProfiler } from './profiling.ts'
import type { Exchange, Handler } from './serve.ts'

/** Rejects with 401 or 403 unless the user of the request may get the path. */
export type AuthorizePath = (exchange: Exchange, path: string) => Promise<void>

/** The metrics and the CPU profile of this process, by path. Servers and front proxies differ in how they authorize them. */
export const processEndpoints = (metrics: Metrics, authorize: AuthorizePath): ReadonlyMap<string, Handler> =>
  new Map([
    ['/metrics', metricsHandler(metrics, authorize)],
    ['/debug/pprof/profile', profileHandler(new CpuProfiler(), authorize)],
  ])

const metricsHandler =
  (metrics: Metrics, authorize: AuthorizePath): Handler =>
  async exchange => {
    await authorize(exchange, '/metrics')
    const { contentType, body } = await metrics.text()
    return { status: 200, contentType, body: Buffer.from(body) }
  }

const profileHandler =
  (profiler: CpuProfiler, authorize: AuthorizePath): Handler =>
  async exchange => {
    await authorize(exchange, exchange.incoming.path)
    return profiler.answer(exchange.incoming.query, exchange.lifetime)
  }
