import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { Script } from 'node:vm'

/** A bundled program: one CommonJS file, wrapped in a function that also takes `import()`. */
export interface BundledProgram {
  run(): void
  /** The code cache of V8: the functions compiled so far. */
  code(): Buffer
}

/** The path of the code cache, which is valid for one version of Node. */
export const codePath = (path: string): string => `${path}.${process.version}-${process.arch}.code`

/**
 * Reads a program and its V8 code cache, because compiling takes longer than starting. V8 rejects a code cache of another
 * version or other flags and compiles as usual; a build removes outdated caches.
 */
export function loadProgram(path: string): BundledProgram {
  const cachedData = kept(codePath(path))
  // Bundles are ASCII: read as latin1 and not concatenated, the source is not copied into V8's heap.
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

/** `import()` for programs: on Node 20 it does not work in code from a code cache. */
const importModule = (url: string): Promise<unknown> => import(url)

function kept(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

/** The minimum version of Node, as in `engines` of package.json. */
export const oldestNode = '20.19'

/** The error for a version of Node that is too old; undefined for supported versions. */
export const versionError = (release: string): string | undefined =>
  isOlder(release, oldestNode)
    ? `oriel: Node.js ${oldestNode} or newer is required, and this is ${release}: install a newer version.`
    : undefined

function isOlder(release: string, than: string): boolean {
  const [major = 0, minor = 0] = release.split('.').map(Number)
  const [otherMajor = 0, otherMinor = 0] = than.split('.').map(Number)
  return major < otherMajor || (major === otherMajor && minor < otherMinor)
}
