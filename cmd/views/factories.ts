import type { WorkspaceFactory } from '../../framework/contract/workspace.ts'
import * as framework from '../../framework/index.ts'
import type { ViewPlugin } from '../../framework/plugin.ts'
import { definedAt } from '../../framework/plugins/position.ts'

/** The views of a plugin. `file`: where it is, for errors. Throws an `Error` that names the line. */
export function factoriesOf(
  plugin: unknown,
  options: Readonly<Record<string, unknown>>,
  file: string,
): readonly WorkspaceFactory[] {
  if (typeof plugin !== 'function')
    throw new Error(`${file}: the default export must be a function that returns ${wanted}`)
  const made: unknown = (plugin as ViewPlugin)(framework, options)
  const factories: readonly unknown[] = Array.isArray(made) ? made : [made]
  const isGood = factories.length > 0 && factories.every(each => typeof each === 'function')
  if (isGood) return factories as readonly WorkspaceFactory[]
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
