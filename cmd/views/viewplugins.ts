import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Host, VirtualWorkspace, WorkspaceFactory } from '../../framework/contract/workspace.ts'
import * as framework from '../../framework/index.ts'
import type { ViewPlugin } from '../../framework/plugin.ts'
import { checkViews } from '../../framework/server/routes.ts'
import { StartError } from '../files/starterror.ts'
import type { ViewFlags } from '../flags/serving.ts'

/** Loads the modules of `--view`, whose default exports are plugins. Throws `StartError` on other modules. */
export async function loadViews({ view: files = [] }: ViewFlags): Promise<readonly WorkspaceFactory[]> {
  const loaded = await Promise.all(files.map(loadView))
  return loaded.flat()
}

async function loadView(file: string): Promise<readonly WorkspaceFactory[]> {
  try {
    const module = (await import(pathToFileURL(resolve(file)).href)) as { readonly default?: unknown }
    const plugin = module.default
    if (typeof plugin !== 'function') throw new Error('the default export is not a function')
    const made = (plugin as ViewPlugin)(framework)
    return Array.isArray(made) ? (made as readonly WorkspaceFactory[]) : [made as WorkspaceFactory]
  } catch (error) {
    throw new StartError(`Loading --view ${file} failed: ${(error as Error).message}.`)
  }
}

/** Creates all views for a host. Throws `StartError` when one of them fails, or names or URLs clash. */
export function viewsOver(factories: readonly WorkspaceFactory[], host: Host): readonly VirtualWorkspace[] {
  try {
    const views = factories.map(factory => factory(host))
    checkViews(views)
    return views
  } catch (error) {
    throw new StartError(`Creating the views failed: ${(error as Error).message}.`)
  }
}
