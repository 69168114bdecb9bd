import type { Logger } from '../contract/log.ts'
import { framesOf } from './position.ts'
import type { Supervisor } from './supervisor.ts'

/** The views of plugins, and which files belong to the server. */
export interface BackgroundOptions {
  readonly supervisors: ReadonlyMap<string, Supervisor>
  readonly isOurs: (path: string) => boolean
  readonly log: Logger
}

/**
 * Reports an error that nothing has caught, such as one of a plugin's timer: to the views of the plugin in its stack, else to
 * the log. False if the error is one of the server: its stack names files of the server and of no plugin. The process has
 * to end then, because the state of the server is unknown.
 */
export function reportBackgroundError(error: unknown, what: string, options: BackgroundOptions): boolean {
  const { isOurs, log } = options
  const supervisors = [...options.supervisors.values()]
  const frames = framesOf(error)
  const inModule = supervisors.filter(({ origin }) => frames.some(({ path }) => path === origin.file))
  const inFolder = supervisors.filter(each => each.positionOf(error) !== undefined)
  const found = inModule.length > 0 ? inModule : inFolder
  for (const supervisor of found) supervisor.crashed(error, what)
  if (found.length > 0) return true
  if (frames.some(({ path }) => isOurs(path))) return false
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  log.error({ error: text, views: supervisors.map(({ view }) => view) }, `a view of a plugin failed: ${what}`)
  return true
}
