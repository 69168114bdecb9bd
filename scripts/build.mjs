// Compiles everything to dist/, bundles what `bin` names, and keeps V8's code for it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle, bundleFolder } from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

async function compile() {
  const child = spawn(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], {
    cwd: root,
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  return code
}

/** Starts the program once, so that V8 compiles what a start needs, and stops it, whereupon its code is written. */
async function keepCode() {
  const directory = mkdtempSync(join(tmpdir(), 'oriel-build-'))
  const args = ['start', '--data-directory', directory, '--port', '0']
  const child = spawn(process.execPath, [join(root, 'scripts/keepcode.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), exit])
  child.kill()
  await exit
  rmSync(directory, { recursive: true, force: true })
}

const [code] = await Promise.all([compile(), bundle(bundleFolder)])
process.exitCode = code
if (code === 0) await keepCode()
