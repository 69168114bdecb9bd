import type { Logger } from '../../framework/contract/log.ts'
import type { WorkspaceFactory } from '../../framework/contract/workspace.ts'
import type { Metrics } from '../../framework/metrics/metrics.ts'
import { reportBackgroundError } from '../../framework/plugins/background.ts'
import { createPluginMeters } from '../../framework/plugins/meters.ts'
import type { Supervisor } from '../../framework/plugins/supervisor.ts'
import type { ViewUrls } from '../../framework/publishing/publisher.ts'
import { createProcessMeters } from '../isolation/meters.ts'
import { isOurs } from './ourfiles.ts'
import { reloadedFactories } from './reloading.ts'
import type { LoadedViews, Supervising } from './viewplugins.ts'

interface Options {
  readonly log: Logger
  readonly metrics: Metrics
  /** Views are replaced when their files change. */
  readonly watch: boolean
  /** For the processes of isolated views, which publish them. */
  readonly viewUrls: ViewUrls
}

/** The views of plugins as supervised views. */
export function supervise(
  plugins: readonly LoadedViews[],
  { log, metrics, watch, viewUrls }: Options,
): readonly WorkspaceFactory[] {
  if (plugins.length === 0) return []
  const supervisors = new Map<string, Supervisor>()
  const reports = { viewUrls, processMeters: createProcessMeters(metrics) }
  const supervision = { supervisors, isOurs, meters: createPluginMeters(metrics), ...reports }
  if (plugins.some(({ isIsolated }) => !isIsolated)) outliveErrors(supervision, log)
  return watch
    ? reloadedFactories(plugins, supervision, log)
    : plugins.flatMap(plugin => plugin.supervised(supervision))
}

/** Errors of plugins that nothing has caught do not end the process any more. */
function outliveErrors({ supervisors }: Pick<Supervising, 'supervisors'>, log: Logger): void {
  process.on('uncaughtException', (error, origin) => {
    const what =
      origin === 'unhandledRejection'
        ? 'a promise was rejected, and nothing handled it'
        : 'an error was thrown, and nothing caught it'
    if (reportBackgroundError(error, what, { supervisors, isOurs, log })) return
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    process.exit(1)
  })
}
