import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Jiti } from 'jiti'
import type { PluginOrigin } from '../../framework/plugins/position.ts'

/** TypeScript, which Node 20 does not run. */
const isTypeScript = (file: string): boolean => /\.[cm]?ts$/.test(file)

/** Strips types and keeps the lines, for all versions of Node. Without caches, so that each load reads the files again. */
async function loader(): Promise<Jiti> {
  const { createJiti } = await import('jiti')
  const from = join(process.cwd(), 'views.ts')
  return createJiti(from, { moduleCache: false, fsCache: false, interopDefault: false })
}

/** Finds the module of `--view`: a file, or a package that is installed in the working directory. Throws an `Error`. */
export async function findModule(name: string): Promise<PluginOrigin> {
  const file = resolve(name)
  if (isPath(name) || existsSync(file)) return { name, file }
  const { esmResolve } = await loader()
  const url = esmResolve(name, { parentURL: pathToFileURL(join(process.cwd(), 'views.ts')), try: true })
  if (url === undefined)
    throw new Error(
      `there is no file ${file}, and no package ${JSON.stringify(name)} is installed in ${process.cwd()}`,
    )
  return { name, file: fileURLToPath(url) }
}

const isPath = (name: string): boolean => /^\.{0,2}[\\/]|\.[cm]?[jt]s$/.test(name)

/** The default export of a module. `fresh`: the files are read again, with all that they import. */
export async function loadModule({ file }: PluginOrigin, fresh: boolean): Promise<unknown> {
  const module = await (isTypeScript(file) || fresh
    ? (await loader()).import(file)
    : import(pathToFileURL(file).href))
  return (module as { readonly default?: unknown }).default
}
