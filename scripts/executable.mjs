// Makes one executable file of Node and the built program, for the platform that this runs on: node scripts/executable.mjs [file]
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { bundleOne } from './bundle.mjs'
import { packageFile, root, runtimeFiles } from './runtimefiles.mjs'

/** What Node finds its program by (https://nodejs.org/api/single-executable-applications.html). */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
const require = createRequire(import.meta.url)
const isMac = process.platform === 'darwin'
const isWindows = process.platform === 'win32'

/** The files by their paths in the package, and the list that `cmd/process/unpack.ts` reads. */
function pack(folder) {
  const ownPackage = join(folder, 'package.json')
  writeFileSync(ownPackage, packageFile())
  const assets = { 'package.json': ownPackage }
  for (const file of runtimeFiles()) assets[file] = join(root, file)
  const digest = createHash('sha256')
  const files = Object.entries(assets).map(([path, file]) => {
    const content = readFileSync(file)
    digest.update(`${path}\n${content.length}\n`).update(content)
    return { path, size: content.length }
  })
  const builtAt = statSync(join(root, 'dist/bundle/main.cjs')).mtime.toISOString()
  const list = join(folder, 'files.json')
  writeFileSync(list, JSON.stringify({ digest: digest.digest('hex'), builtAt, files }))
  return { ...assets, 'files.json': list }
}

/** Writes what Node finds in the executable, the entry point and the files, and returns its path. */
async function blobIn(folder) {
  await bundleOne({ entryPoints: ['cmd/executable.ts'], outdir: folder, sourcemap: false })
  const [config, output] = [join(folder, 'sea.json'), join(folder, 'blob')]
  const main = join(folder, 'executable.cjs')
  const settings = { main, output, disableExperimentalSEAWarning: true, assets: pack(folder) }
  writeFileSync(config, JSON.stringify(settings))
  execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'pipe' })
  return output
}

async function make(file) {
  if (!readFileSync(process.execPath).includes(fuse))
    throw new Error(
      `${process.execPath} cannot carry a program: use a Node.js from https://nodejs.org instead of one with shared libraries`,
    )
  const folder = mkdtempSync(join(tmpdir(), 'oriel-executable-'))
  try {
    const blob = await blobIn(folder)
    mkdirSync(dirname(file), { recursive: true })
    copyFileSync(process.execPath, file)
    chmodSync(file, 0o755)
    // macOS runs signed programs only, and the content changes the signature.
    if (isMac) execFileSync('codesign', ['--remove-signature', file])
    const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : []
    const args = [file, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse, ...segment]
    // It prints warnings about notes of ELF that do not matter.
    execFileSync(process.execPath, [require.resolve('postject/dist/cli.js'), ...args], { stdio: 'pipe' })
    if (isMac) execFileSync('codesign', ['--sign', '-', file])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const [, , given = join(root, 'dist/executable', isWindows ? 'oriel.exe' : 'oriel')] = process.argv
try {
  await make(resolve(given))
  process.stdout.write(`${resolve(given)}\n`)
} catch (error) {
  process.stderr.write(`oriel: ${error.message}.\n`)
  process.exitCode = 1
}
