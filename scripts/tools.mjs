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

if (!folders.some(folder => isProgram(join(folder, 'kubectl')))) {
  process.stderr.write(
    'npm test needs kubectl on the PATH; scripts/install-kubectl.sh puts one into .kubectl/, ' +
      'which PATH="$PWD/.kubectl:$PATH" npm test then finds.\n',
  )
  process.exitCode = 1
}
