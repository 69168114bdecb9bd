// Copies the files with which the built program runs, and no others, into a folder: node scripts/runtime.mjs <folder>
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The bundle, and lmdb's compiled part, which the bundle finds by the place of its package. */
const files = [
  'LICENSE',
  'dist/bundle',
  'node_modules/lmdb/package.json',
  'node_modules/lmdb/LICENSE',
  'node_modules/lmdb/dist/index.cjs',
  'node_modules/@lmdb',
]

function copy(folder) {
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file), { recursive: true })
  }
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, version, license })}\n`)
}

const [, , folder] = process.argv
if (folder === undefined) {
  process.stderr.write('Give the folder: node scripts/runtime.mjs <folder>\n')
  process.exitCode = 1
} else copy(folder)
