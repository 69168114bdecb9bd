// Compiles everything to dist/, bundles what `bin` names, and keeps V8's code for it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle, bundleFolder } from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

async function compile(project) {
  const child = spawn(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project], {
    cwd: root,
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  return code
}

/** Starts the program, so that V8 compiles what a start needs, and stops it, whereupon its code is written. */
async function keepCode(directory) {
  const args = ['start', '--data-directory', directory, '--port', '0']
  const child = spawn(process.execPath, [join(root, 'scripts/keepcode.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const [banner] = await Promise.race([once(child.stdout, 'data'), exit.then(() => [''])])
  const [url] = /https:\S+/.exec(banner) ?? []
  if (url !== undefined) await answered(`${url}/readyz`)
  child.kill()
  await exit
}

/** Resolves when there is an answer, whatever it is. */
const answered = url =>
  new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false }, resolve).on('error', reject)
  })

// What is left of sources that are gone would be tested on.
rmSync(join(root, 'dist'), { recursive: true, force: true })
const codes = await Promise.all([
  compile('tsconfig.json'),
  compile('console/tsconfig.json'),
  bundle(bundleFolder),
])
const code = codes[0] || codes[1]
process.exitCode = code
if (code === 0) {
  const directory = mkdtempSync(join(tmpdir(), 'oriel-build-'))
  // A first start makes what later ones read.
  await keepCode(directory)
  await keepCode(directory)
  rmSync(directory, { recursive: true, force: true })
}
