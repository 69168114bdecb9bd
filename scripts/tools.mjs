// Brings the program that the tests and the README's commands need besides Node into .tools/, where the PATH lacks it.
// `--offer` only says how: for `npm start`, which needs no kubectl itself.
import { accessSync, constants, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bringKubectl } from './kubectl.mjs'

const folder = fileURLToPath(new URL('../.tools', import.meta.url))
const kubectl = join(folder, 'kubectl')

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const isOnPath = () =>
  (process.env.PATH ?? '').split(delimiter).some(each => isProgram(join(each, 'kubectl')))

async function bring() {
  mkdirSync(folder, { recursive: true })
  process.stderr.write(
    'kubectl is not on the PATH: getting one for the tests into .tools/, which takes up to a few minutes.\n',
  )
  const source = await bringKubectl(kubectl)
  process.stderr.write(`kubectl is in .tools/ now, from ${source}.\n`)
}

function offer() {
  const use = 'export PATH="$PWD/.tools:$PATH"'
  const how = isProgram(kubectl) ? `.tools/ has one: ${use}` : `npm run kubectl && ${use}`
  process.stderr.write(`kubectl, which the commands of the README use, is not on the PATH. ${how}\n`)
}

try {
  if (process.argv.includes('--offer')) {
    if (!isOnPath()) offer()
  } else if (!isOnPath() && !isProgram(kubectl)) await bring()
} catch (error) {
  process.stderr.write(`npm test needs kubectl: ${error.message}\n`)
  process.exitCode = 1
}
