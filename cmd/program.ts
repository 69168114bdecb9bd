import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { Script } from 'node:vm'

/** A program that lies in one file, as CommonJS. */
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
  // Bundles are ASCII.
  const source = `(function (${parameters}) {\n${readFileSync(path, 'latin1')}\n})`
  const script = new Script(source, {
    filename: path,
    lineOffset: -1,
    ...(cachedData && { cachedData }),
  })
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

const parameters = 'exports, require, module, __filename, __dirname, importModule'

/** `import()` for programs: what runs from kept code cannot import by itself on Node 20. */
const importModule = (url: string): Promise<unknown> => import(url)

function kept(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}
