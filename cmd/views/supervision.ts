import type { Logger } from '../../framework/contract/log.ts'
import type { WorkspaceFactory } from '../../framework/contract/workspace.ts'
import type { Metrics } from '../../framework/metrics/metrics.ts'
import { reportBackgroundError } from '../../framework/plugins/background.ts'
import { createPluginMeters } from '../../framework/plugins/meters.ts'
import { type LoadedPlugin, supervisedFactories } from '../../framework/plugins/supervise.ts'
import type { Supervisor } from '../../framework/plugins/supervisor.ts'
import { isOurs } from './ourfiles.ts'

/** The views of plugins as supervised views. Their uncaught errors do not end the process any more. */
export function supervise(
  plugins: readonly LoadedPlugin[],
  { log, metrics }: { readonly log: Logger; readonly metrics: Metrics },
): readonly WorkspaceFactory[] {
  if (plugins.length === 0) return []
  const supervisors: Supervisor[] = []
  const supervision = { supervisors, isOurs, meters: createPluginMeters(metrics) }
  process.on('uncaughtException', (error, origin) => {
    const what =
      origin === 'unhandledRejection'
        ? 'a promise was rejected, and nothing handled it'
        : 'an error was thrown, and nothing caught it'
    if (reportBackgroundError(error, what, { supervisors, isOurs, log })) return
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    process.exit(1)
  })
  return plugins.flatMap(plugin => supervisedFactories(plugin, supervision))
}
