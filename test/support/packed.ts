import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { extract } from 'tar'
import { readText, run } from './oriel.ts'
import { root } from './source.ts'
import { temporaryDirectory } from './temporary.ts'

/** An empty project in which the package is installed, as it is published. */
export interface PackedProject {
  readonly folder: string
  /** The files of the package. */
  readonly files: readonly string[]
}

/**
 * Packs this repository and installs the package into an empty project, without a registry: its dependencies are links to those
 * of this repository. Others than the declared ones are missing.
 */
export async function installPacked(): Promise<PackedProject> {
  const folder = await temporaryDirectory('packed')
  const options = ['--ignore-scripts', '--json', '--pack-destination', folder]
  const { code, stdout, stderr } = await run('npm', ['pack', ...options])
  if (code !== 0) throw new Error(`npm pack: ${stderr}`)
  const [{ filename, files }] = JSON.parse(stdout) as [PackResult]
  const target = join(folder, 'node_modules/oriel')
  await mkdir(target, { recursive: true })
  await extract({ file: join(folder, filename), cwd: target, strip: 1 })
  await link(folder, await dependencies(join(target, 'package.json')))
  await mkdir(join(folder, 'node_modules/.bin'))
  await symlink('../oriel/dist/bundle/oriel.cjs', join(folder, 'node_modules/.bin/oriel'))
  return { folder, files: files.map(({ path }) => path) }
}

interface PackResult {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

async function dependencies(manifest: string): Promise<readonly string[]> {
  const parsed = JSON.parse(await readText(manifest)) as { dependencies: Record<string, string> }
  return Object.keys(parsed.dependencies)
}

/** Links packages of this repository into a project. */
export async function link(folder: string, packages: readonly string[]): Promise<void> {
  for (const name of packages) {
    const target = join(folder, 'node_modules', name)
    await mkdir(dirname(target), { recursive: true })
    await symlink(join(root, 'node_modules', name), target)
  }
}

/** The sources of a project: files, or directories that are included. */
type Sources = { readonly files: readonly string[] } | { readonly include: readonly string[] }

/** Writes a tsconfig.json into a folder, and returns what the compiler says about the types of its sources; '' for none. */
export async function typeErrorsIn(folder: string, sources: Sources): Promise<string> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2023',
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, ...sources }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { code, stdout } = await run(process.execPath, [compiler, '-p', folder])
  return code === 0 ? '' : stdout || `the compiler ended with ${code}`
}
