import type { Host, VirtualWorkspace, WorkspaceFactory } from '../../framework/contract/workspace.ts'
import * as framework from '../../framework/index.ts'
import { type PluginOrigin, positionOf } from '../../framework/plugins/position.ts'
import { type Supervision, supervisedFactories } from '../../framework/plugins/supervise.ts'
import { checkViews } from '../../framework/server/routes.ts'
import { StartError } from '../files/starterror.ts'
import type { ViewFlags } from '../flags/serving.ts'
import { IsolatedViews, type ProcessReports } from '../isolation/isolatedviews.ts'
import type { Isolation } from '../isolation/isolation.ts'
import { type IsolatedPlugin, ViewProcess } from '../isolation/viewprocess.ts'
import { reportExits } from './exits.ts'
import { factoriesOf } from './factories.ts'
import { isOurs } from './ourfiles.ts'
import { findModule, loadModule } from './pluginmodule.ts'
import { type ListedView, listedViews } from './viewlist.ts'

/** The views of a module, and how to load them again. */
export interface LoadedViews {
  readonly origin: PluginOrigin
  /** The files that were read, with `--watch`. */
  readonly files: readonly string[]
  /** Whether the views are in a process of their own. */
  readonly isIsolated: boolean
  /** The views, which are supervised. */
  supervised(by: Supervising): readonly WorkspaceFactory[]
  /** Ends the process of views that are not served. */
  discard(): void
  /** Reads the files again. Rejects with an `Error` that names file and line. */
  again(): Promise<LoadedViews>
}

/** Receives the reports of the views of plugins. */
export interface Supervising extends Supervision, Omit<ProcessReports, 'log'> {}

/** Loads the modules of `--view` and `--views`, whose default exports are plugins. `isolation` is
 * for views with `isolate: true`. Throws `StartError` on other modules. */
export async function loadViews(flags: ViewFlags, isolation?: Isolation): Promise<readonly LoadedViews[]> {
  const listed = await listedViews(flags)
  return Promise.all(listed.map(each => loadListed(each, { fresh: flags.watch === true, isolation })))
}

interface LoadOptions {
  /** Whether the files are read again, with all that they import. */
  readonly fresh: boolean
  /** For views with `isolate: true`. */
  readonly isolation?: Isolation | undefined
}

/** Loads one module. Throws `StartError` on a module that is no plugin. */
export async function loadListed(
  listed: ListedView,
  { fresh, isolation }: LoadOptions,
): Promise<LoadedViews> {
  try {
    const origin = await findModule(listed.view)
    if (isolation !== undefined && listed.isolated !== undefined)
      return await loadedInProcess({ ...listed, ...listed.isolated, fresh, origin }, isolation)
    return await loaded(origin, listed, { fresh })
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`Loading --view ${listed.view} failed: ${(error as Error).message}.`)
  }
}

async function loaded(
  origin: PluginOrigin,
  listed: ListedView,
  { fresh }: LoadOptions,
): Promise<LoadedViews> {
  try {
    reportExits(origin)
    const { exported, apiVersion, files } = await loadModule(origin, fresh)
    checkApiVersion(apiVersion, origin)
    const factories = factoriesOf(exported, listed.options, origin.file)
    return {
      origin,
      files,
      isIsolated: false,
      supervised: by => supervisedFactories({ origin, factories }, by),
      discard: () => undefined,
      again: () => loaded(origin, listed, { fresh: true }),
    }
  } catch (error) {
    const at = positionOf(error, origin, isOurs)
    const text = oneLine((error as Error).message)
    throw new Error(text.includes(origin.file) ? text : `${at ?? origin.file}: ${text}`)
  }
}

/** A plugin in a process of its own, which this one only knows by what it announces. */
async function loadedInProcess(
  plugin: IsolatedPlugin & { readonly origin: PluginOrigin },
  isolation: Isolation,
): Promise<LoadedViews> {
  const { origin } = plugin
  const again = () => new ViewProcess(plugin, isolation)
  const first = again()
  const { views, files } = await first.announced
  const made = lazily(
    (reports: ProcessReports) => new IsolatedViews({ plugin, views, first, again }, reports).views,
  )
  return {
    origin,
    files,
    isIsolated: true,
    supervised: by => views.map((_, i) => host => viewAt(made({ ...by, log: host.log }), i)),
    discard: () => first.kill('its views were not served'),
    again: () => loadedInProcess(plugin, isolation),
  }
}

function viewAt(views: readonly VirtualWorkspace[], i: number): VirtualWorkspace {
  const view = views[i]
  if (view === undefined) throw new Error('the process has fewer views')
  return view
}

/** Makes a value at the first call. */
function lazily<A, T>(make: (argument: A) => T): (argument: A) => T {
  let made: { readonly value: T } | undefined
  return argument => {
    made ??= { value: make(argument) }
    return made.value
  }
}

/** Throws an `Error` for a plugin that needs a newer server. */
function checkApiVersion(version: unknown, { file }: PluginOrigin): void {
  const { apiVersion } = framework
  if (version === undefined) return
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    throw new Error(
      `${file}: apiVersion must be an integer, such as ${apiVersion}, but it is ${JSON.stringify(version)}`,
    )
  if (version > apiVersion)
    throw new Error(
      `${file}: the plugin was written for version ${version} of the API of plugins, and this server has version ${apiVersion}: install a newer version of oriel`,
    )
}

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ').trim()

/** Creates all views for a host. Throws `StartError` when one of them fails, or names or URLs clash. */
export function viewsOver(factories: readonly WorkspaceFactory[], host: Host): readonly VirtualWorkspace[] {
  try {
    const views = factories.map(factory => factory(host))
    checkViews(views)
    return views
  } catch (error) {
    throw new StartError(`Creating the views failed: ${oneLine((error as Error).message)}.`)
  }
}
