import type { Host, VirtualWorkspace, WorkspaceFactory } from '../../framework/contract/workspace.ts'
import * as framework from '../../framework/index.ts'
import type { ViewPlugin } from '../../framework/plugin.ts'
import { definedAt, type PluginOrigin, positionOf } from '../../framework/plugins/position.ts'
import type { LoadedPlugin } from '../../framework/plugins/supervise.ts'
import { checkViews } from '../../framework/server/routes.ts'
import { StartError } from '../files/starterror.ts'
import type { ViewFlags } from '../flags/serving.ts'
import { isOurs } from './ourfiles.ts'
import { findModule, loadModule } from './pluginmodule.ts'

/** Loads the modules of `--view`, whose default exports are plugins. Throws `StartError` on other modules. */
export const loadViews = ({ view: names = [] }: ViewFlags): Promise<readonly LoadedPlugin[]> =>
  Promise.all(names.map(loadView))

async function loadView(name: string): Promise<LoadedPlugin> {
  let origin: PluginOrigin | undefined
  try {
    origin = await findModule(name)
    return { origin, factories: factoriesOf(await loadModule(origin, false), origin) }
  } catch (error) {
    const at = origin && positionOf(error, origin, isOurs)
    const text = oneLine((error as Error).message)
    throw new StartError(`Loading --view ${name} failed: ${at === undefined ? text : `${at}: ${text}`}.`)
  }
}

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ')

/** The views of a plugin. Throws an `Error` that names the line. */
function factoriesOf(plugin: unknown, { file }: PluginOrigin): readonly WorkspaceFactory[] {
  if (typeof plugin !== 'function') throw new Error('the default export is not a function')
  const made: unknown = (plugin as ViewPlugin)(framework)
  const factories: readonly unknown[] = Array.isArray(made) ? made : [made]
  const bad = factories.find(each => typeof each !== 'function')
  if (bad === undefined && factories.length > 0) return factories as readonly WorkspaceFactory[]
  if (made instanceof Promise) made.catch(() => undefined)
  const at = definedAt(plugin as ViewPlugin) ?? file
  throw new Error(`${at}: the plugin must return ${wanted}, but it returned ${shown(made)}`)
}

const wanted = 'a view made by defineVirtualWorkspace(), or a list of such views'

function shown(made: unknown): string {
  if (made instanceof Promise) return 'a promise: use await outside of the function'
  if (Array.isArray(made)) return made.length === 0 ? 'an empty list' : 'a list with something else'
  return typeof made === 'object' && made !== null ? 'an object' : String(made)
}

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
