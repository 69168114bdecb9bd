// Copies the files with which the built program runs, and no others, into a folder: node scripts/runtime.mjs <folder>
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageFile, root, runtimeFiles } from './runtimefiles.mjs'

function copy(folder) {
  for (const file of runtimeFiles()) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  writeFileSync(join(folder, 'package.json'), packageFile())
}

const [, , folder] = process.argv
if (folder === undefined) {
  process.stderr.write('Give the folder: node scripts/runtime.mjs <folder>\n')
  process.exitCode = 1
} else copy(folder)
