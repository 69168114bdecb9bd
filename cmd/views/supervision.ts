import type { Logger } from '../../framework/contract/log.ts'
import type { WorkspaceFactory } from '../../framework/contract/workspace.ts'
import type { Metrics } from '../../framework/metrics/metrics.ts'
import { reportBackgroundError } from '../../framework/plugins/background.ts'
import { createPluginMeters } from '../../framework/plugins/meters.ts'
import { supervisedFactories } from '../../framework/plugins/supervise.ts'
import type { Supervisor } from '../../framework/plugins/supervisor.ts'
import { isOurs } from './ourfiles.ts'
import { reloadedFactories } from './reloading.ts'
import type { LoadedViews } from './viewplugins.ts'

interface Supervising {
  readonly log: Logger
  readonly metrics: Metrics
  /** Views are replaced when their files change. */
  readonly watch: boolean
}

/** The views of plugins as supervised views. Their uncaught errors do not end the process any more. */
export function supervise(
  plugins: readonly LoadedViews[],
  { log, metrics, watch }: Supervising,
): readonly WorkspaceFactory[] {
  if (plugins.length === 0) return []
  const supervisors = new Map<string, Supervisor>()
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
  return plugins.flatMap(plugin =>
    watch ? reloadedFactories(plugin, supervision, log) : supervisedFactories(plugin, supervision),
  )
}
