import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { Script } from 'node:vm'

/** A program that lies in one file, as CommonJS: as a function of what CommonJS gives to modules, and of `import()`. */
export interface Program {
  run(): void
  /** What V8 has compiled so far. */
  code(): Buffer
}

/** Where V8's code for a program is kept. Only the same Node can use it. */
export const codePath = (path: string): string => `${path}.${process.version}-${process.arch}.code`

/**
 * Reads a program, and takes the code that is kept beside it: compiling it anew at every start costs more than running
 * it. V8 refuses code of other versions and flags, and then compiles as usual; a build removes what it outdates.
 */
export function loadProgram(path: string): Program {
  const cachedData = kept(codePath(path))
  // Bundles are ASCII, and read as they are: V8 would copy what is put together into its heap.
  const source = readFileSync(path, 'latin1')
  const script = new Script(source, { filename: path, ...(cachedData && { cachedData }) })
  return {
    run: () => {
      const module = { exports: {} }
      script.runInThisContext()(
        module.exports,
        createRequire(path),
        module,
        path,
        dirname(path),
        importModule,
      )
    },
    code: () => script.createCachedData(),
  }
}

/** `import()` for programs: what runs from kept code cannot import by itself on Node 20. */
const importModule = (url: string): Promise<unknown> => import(url)

function kept(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

/** The oldest Node that runs Oriel: the one of `engines` in package.json. */
export const oldestNode = '20.19'

/** What there is to say about a release of Node that is too old; undefined for others. */
export const refusalOf = (release: string): string | undefined =>
  release.localeCompare(oldestNode, 'en', { numeric: true }) < 0
    ? `oriel: Node.js ${oldestNode} or newer is needed, and this is ${release}.`
    : undefined
