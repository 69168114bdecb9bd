// Says what `npm test` needs and cannot find, before hundreds of tests say so in their ways.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const folders = (process.env.PATH ?? '').split(delimiter)

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const isThere = program => folders.some(folder => isProgram(join(folder, program)))
const missing = ['kubectl', 'curl'].filter(program => !isThere(program))

if (missing.length > 0) {
  const how =
    'scripts/install-kubectl.sh puts a kubectl into .kubectl/, which PATH="$PWD/.kubectl:$PATH" npm test then finds.'
  process.stderr.write(
    `npm test needs ${missing.join(' and ')} on the PATH.${missing.includes('kubectl') ? ` ${how}` : ''}\n`,
  )
  process.exitCode = 1
}
