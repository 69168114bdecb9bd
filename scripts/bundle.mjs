// Makes one file of the program and its packages, so that a start does not look for hundreds of modules.
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Writes `oriel.cjs`, which `bin` names, `main.cjs`, which it runs, its threads `yamlworker.cjs` and
 * `patternworker.cjs`, and the folder `console`, with their source maps, into an empty folder.
 */
export async function bundle(folder) {
  rmSync(folder, { recursive: true, force: true })
  await Promise.all([
    bundleOne({ entryPoints: ['cmd/oriel.ts'], outdir: folder }),
    // Threads, which `framework/wire/yamlreader.ts` and `framework/threads/patternthread.ts` start from the folder of the program.
    ...['framework/wire/yamlworker.ts', 'framework/threads/patternworker.ts'].map(thread =>
      bundleOne({ entryPoints: [thread], outdir: folder, ...small }),
    ),
    // As it lies in the file, V8 keeps it for as long as the program runs.
    bundleOne({ entryPoints: ['cmd/main.ts'], outdir: folder, ...asFunction, ...small }),
    bundleConsole(join(folder, 'console')),
  ])
}

/** The files of `/console`, for browsers of the last three years. */
async function bundleConsole(folder) {
  await build({
    absWorkingDir: root,
    entryPoints: ['console/main.tsx', 'console/console.css'],
    outdir: folder,
    bundle: true,
    minify: true,
    platform: 'browser',
    target: ['chrome111', 'firefox115', 'safari16.4'],
    format: 'esm',
    tsconfig: 'console/tsconfig.json',
    logLevel: 'warning',
  })
  for (const file of ['index.html', 'icon.svg']) cpSync(join(root, 'console', file), join(folder, file))
}

/** What `cmd/process/program.ts` calls. */
const asFunction = {
  banner: { js: '(function (exports, require, module, __filename, __dirname, importModule) {' },
  footer: { js: '})' },
}

/** Names stay, because stack traces show them, and lines, by which `cmd/process/stacktraces.ts` finds the sources. */
const small = { minifyWhitespace: true, minifySyntax: true, lineLimit: 200 }

/** Bundles entry points for Node. */
export function bundleOne(options) {
  return build({
    absWorkingDir: root,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    // Finds its compiled part by its own place, and does without.
    external: ['msgpackr-extract'],
    plugins: [lmdbInPlace, connectionsOnly, viewsFromOutside],
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'warning',
    logOverride: { 'require-resolve-not-external': 'silent' },
    ...options,
  })
}

/** lmdb finds its compiled part by its own place, too, which it has to be told once it is bundled. */
const lmdbInPlace = {
  name: 'lmdb-in-place',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^lmdb$/ }, () => ({ path: require.resolve('lmdb') }))
    onLoad({ filter: /lmdb\/dist\/index\.cjs$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('__filename', "require.resolve('lmdb')"),
    }))
  },
}

/** undici's index loads much more than connections, and its `fetch` makes Node load its own, with a parser in WebAssembly each. */
const connectionsOnly = {
  name: 'connections-only',
  setup({ onLoad }) {
    onLoad({ filter: /undici\/index\.js$/ }, ({ path }) => ({
      contents: `
        exports.Agent = require('./lib/dispatcher/agent')
        exports.buildConnector = require('./lib/core/connect')
        exports.Pool = require('./lib/dispatcher/pool')
        Object.assign(require('./lib/dispatcher/dispatcher').prototype, require('./lib/api'))`,
      resolveDir: dirname(path),
    }))
  },
}

/** `import()` does not work in what `cmd/process/program.ts` runs, which passes this instead. */
const viewsFromOutside = {
  name: 'views-from-outside',
  setup({ onLoad }) {
    onLoad({ filter: /cmd\/views\/pluginmodule\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(/(?<!\.)\bimport\(/g, 'importModule('),
      loader: 'ts',
    }))
  },
}

export const bundleFolder = join(root, 'dist/bundle')
