// The files with which the built program runs.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** The bundle, and lmdb's compiled part, which the bundle finds by the place of its package. */
const places = [
  'LICENSE',
  'dist/bundle',
  'node_modules/lmdb/package.json',
  'node_modules/lmdb/LICENSE',
  'node_modules/lmdb/dist/index.cjs',
  'node_modules/@lmdb',
]

const filesBelow = path =>
  statSync(join(root, path)).isDirectory()
    ? readdirSync(join(root, path)).flatMap(name => filesBelow(`${path}/${name}`))
    : [path]

/** Paths relative to the root of the repository; besides them the program needs `packageFile` as package.json. */
export const runtimeFiles = () => places.flatMap(filesBelow)

/** The package.json of the program without its sources. */
export function packageFile() {
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return `${JSON.stringify({ name, version, license })}\n`
}
