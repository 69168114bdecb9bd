import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Jiti } from 'jiti'
import type { PluginOrigin } from '../../framework/plugins/position.ts'

/** TypeScript, which Node 20 does not run. */
const isTypeScript = (file: string): boolean => /\.[cm]?ts$/.test(file)

const options = { moduleCache: false, fsCache: false, interopDefault: false } as const

/** Removes types and keeps the lines, on all versions of Node. Without caches: each load reads the files again. */
async function loader(loaded: (file: string) => void = () => undefined): Promise<Jiti> {
  const { createJiti } = await import('jiti')
  const from = join(process.cwd(), 'views.ts')
  const plain = createJiti(from, options)
  return createJiti(from, {
    ...options,
    transform: source => {
      if (source.filename !== undefined) loaded(source.filename)
      return { code: plain.transform(source) }
    },
  })
}

/** Finds the module of `--view`: a file, or a package that is installed in the working directory. Throws an `Error`. */
export async function findModule(name: string): Promise<PluginOrigin> {
  const file = resolve(name)
  if (existsSync(file)) return { name, file }
  if (isPath(name)) throw new Error(`there is no file ${file}`)
  const jiti = await loader()
  const parentURL = pathToFileURL(join(process.cwd(), 'views.ts'))
  const url = jiti.esmResolve(name, { parentURL, try: true })
  if (url === undefined)
    throw new Error(
      `there is no file ${file}, and no package ${JSON.stringify(name)} is installed in ${process.cwd()}`,
    )
  return { name, file: url.startsWith('file:') ? fileURLToPath(url) : url }
}

const isPath = (name: string): boolean => /^\.{0,2}[\\/]|\.[cm]?[jt]s$/.test(name)

/** A loaded module. */
export interface LoadedModule {
  readonly exported: unknown
  /** The version of the API for which it was written, if it says so. */
  readonly apiVersion: unknown
  /** The files that were read, if it was loaded afresh. */
  readonly files: readonly string[]
}

/** The default export of a module. `fresh`: its files are read again, with all that they import. */
export async function loadModule({ file }: PluginOrigin, fresh: boolean): Promise<LoadedModule> {
  const files = new Set([file])
  const module = await (isTypeScript(file) || fresh
    ? (await loader(each => files.add(each))).import(file)
    : import(pathToFileURL(file).href))
  const { default: exported, apiVersion } = module as {
    readonly default?: unknown
    readonly apiVersion?: unknown
  }
  return { exported, apiVersion, files: [...files] }
}
