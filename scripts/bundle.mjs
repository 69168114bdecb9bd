// Makes one file of the program and its packages, so that a start does not look for hundreds of modules.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Writes `oriel.cjs`, which `bin` names, and `main.cjs`, which it runs, with their source maps, into an empty folder. */
export async function bundle(folder) {
  rmSync(folder, { recursive: true, force: true })
  await build({
    absWorkingDir: root,
    entryPoints: ['cmd/oriel.ts', 'cmd/main.ts'],
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    // It finds its compiled part by its own place.
    external: ['lmdb'],
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'warning',
  })
}

export const bundleFolder = join(root, 'dist/bundle')
