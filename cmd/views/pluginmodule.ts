import { existsSync, statSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { extname, join, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Jiti } from 'jiti'
import type { PluginOrigin } from '../../framework/plugins/position.ts'
import { isOurs } from './ourfiles.ts'

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

type Resolve = (
  specifier: string,
  context: { readonly parentURL?: string },
  next: (specifier: string) => unknown,
) => unknown

/**
 * Makes the imports fail by which jiti would have Node load JavaScript of a plugin: jiti then reads it as it reads TypeScript, and Node
 * would not read it again. Its text is a module of its own before Node 22.15: it uses nothing else of this file.
 */
const refusing: Resolve = (specifier, { parentURL = '' }, next) => {
  const isByJiti = /[/]jiti[/]lib[/]jiti[.][cm]js$/.test(parentURL)
  if (isByJiti && /^([/]|file:)(?!.*[/]node_modules[/])/.test(specifier)) throw new Error('is read by jiti')
  return next(specifier)
}
let isRefusing = false

/** Node 26 has deprecated `register`. */
function refuseImports(): void {
  const { registerHooks } = nodeModule as { registerHooks?: (hooks: { resolve: Resolve }) => void }
  if (registerHooks !== undefined) registerHooks({ resolve: refusing })
  else nodeModule.register(`data:text/javascript,${encodeURIComponent(`export const resolve = ${refusing}`)}`)
}

/** Has the files of plugins read again, at the next load. */
function readAgain(): void {
  if (!isRefusing) refuseImports()
  isRefusing = true
  const { cache } = nodeModule.createRequire(join(process.cwd(), 'views.ts'))
  for (const file of Object.keys(cache))
    if (!isOurs(file) && !file.includes(`${sep}node_modules${sep}`)) delete cache[file]
}

/** Finds the module of `--view`: a file, or a package that is installed in the working directory. Throws an `Error`. */
export async function findModule(name: string): Promise<PluginOrigin> {
  const file = resolve(name)
  if (existsSync(file)) return { name, file: checkedFile(file) }
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

/** Throws an `Error` for what Node would refuse in words of its own. */
function checkedFile(file: string): string {
  if (statSync(file).isDirectory())
    throw new Error(
      `${file} is a directory: give the file of the view in it, such as ${join(file, 'view.ts')}`,
    )
  const extension = extname(file)
  if (extension !== '' && !extensions.includes(extension))
    throw new Error(
      `${file} is not JavaScript or TypeScript: its name must end with ${extensions.join(', ')}`,
    )
  return file
}

const extensions = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']

const isPath = (name: string): boolean => /^\.{0,2}[\\/]|\.[cm]?[jt]s$/.test(name)

/** A loaded module. */
export interface LoadedModule {
  readonly exported: unknown
  /** The version of the API for which it was written, if it says so. */
  readonly apiVersion: unknown
  /** The files that were read, if it was loaded afresh. */
  readonly files: readonly string[]
}

/** Milliseconds in which a module is loaded, with all that its top level awaits. */
const patience = 60_000

/**
 * The default export of a module. `fresh`: its files are read again, with all that they import. Throws an `Error`, also when the module
 * is not loaded after `longest` milliseconds.
 */
export async function loadModule(
  { file }: PluginOrigin,
  fresh: boolean,
  longest = patience,
): Promise<LoadedModule> {
  const files = new Set([file])
  if (fresh) readAgain()
  const loading =
    isTypeScript(file) || fresh
      ? loader(each => files.add(each)).then(modules => modules.import(file))
      : natively(file)
  const module = await loadedWithin(longest, loading)
  // What jiti reads of CommonJS is module.exports.
  const { default: exported = module, apiVersion } = module as {
    readonly default?: unknown
    readonly apiVersion?: unknown
  }
  return { exported, apiVersion, files: [...files] }
}

async function loadedWithin<T>(longest: number, loading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new Error(
      `the module was not loaded after ${longest / 1_000} s: its top level awaits what does not end`,
    )
    timer = setTimeout(reject, longest, error)
  })
  try {
    return await Promise.race([loading, late])
  } finally {
    clearTimeout(timer)
  }
}

async function natively(file: string): Promise<object> {
  try {
    return await import(pathToFileURL(file).href)
  } catch (error) {
    throw error instanceof SyntaxError ? await withLine(error, file) : error
  }
}

/** Node keeps the file and the line of a syntax error from those who catch it: the other loader finds it again, and says both. */
async function withLine(error: SyntaxError, file: string): Promise<unknown> {
  try {
    await (await loader()).import(file)
    return error
  } catch (found) {
    return found
  }
}
