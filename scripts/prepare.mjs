// Makes a checkout runnable: installs packages and compiles, each only when something changed since the last time.
import { spawn } from 'node:child_process'
import {
  accessSync,
  constants,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spin } from './spinner.cjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = [
  'framework',
  'kcp',
  'cel',
  'remote',
  'virtual',
  'authz',
  'openapi',
  'shard',
  'proxy',
  'cmd',
  'console',
  'testing',
  'test',
  'bench',
  'examples',
]
const settings = ['tsconfig.json', 'package-lock.json', 'scripts/build.mjs', 'scripts/bundle.mjs']
const stamp = 'dist/.prepared'

const changedAt = path => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

const isInstalled = () => changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')

const isCompiled = () => {
  const compiled = changedAt(stamp)
  return (
    settings.every(file => changedAt(file) <= compiled) && sources.every(folder => isOlder(folder, compiled))
  )
}

// A folder's own time tells of files that were added or removed.
function isOlder(folder, time) {
  if (changedAt(folder) > time) return false
  const entries = readdirSync(join(root, folder), { withFileTypes: true })
  return entries.every(entry => {
    const path = join(folder, entry.name)
    return entry.isDirectory()
      ? isOlder(path, time)
      : !/\.(tsx?|css|html|svg)$/.test(path) || changedAt(path) <= time
  })
}

// `npm ci` would remove all packages first. Without the options about retries npm asks for minutes where there is no network.
const installArguments = [
  ...['install', '--no-save', '--no-audit', '--no-fund'],
  ...['--fetch-retries=1', '--fetch-retry-mintimeout=500'],
]

async function install() {
  const npm = process.env.npm_execpath
  const installing =
    npm === undefined
      ? run('npm', installArguments, process.platform === 'win32')
      : run(process.execPath, [npm, ...installArguments])
  await installing.catch(({ message }) => {
    throw new Error(`Packages cannot be installed: ${reasonOf(message)}`)
  })
}

// npm says in many lines what one of them says.
const reasonOf = output =>
  /^npm (?:error|ERR!) (?!code |errno |syscall |path )(?:\w*Error: )?(\S.*)$/m.exec(output)?.[1] ?? output

async function compile() {
  const started = new Date()
  await run(process.execPath, ['scripts/build.mjs'])
  writeFileSync(join(root, stamp), '')
  // Sources that were edited while the compiler ran are newer than this.
  utimesSync(join(root, stamp), started, started)
}

// Runs a program silently; what it wrote is shown when it fails.
function run(program, args, shell = false) {
  return new Promise((resolve, reject) => {
    const output = []
    const child = spawn(program, args, { cwd: root, shell, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', chunk => output.push(chunk))
    child.stderr.on('data', chunk => output.push(chunk))
    child.on('error', reject)
    child.on('close', code => {
      if (code === 0) return resolve()
      reject(new Error(`${Buffer.concat(output)}${args.join(' ')} failed (${code}).`))
    })
  })
}

async function withSpinner(text, work) {
  if (!process.stderr.isTTY) {
    process.stderr.write(`${text}\n`)
    return work()
  }
  const spinner = spin(() => text)
  try {
    return await work()
  } finally {
    spinner.stop()
  }
}

// What can be known before anything is tried.
function checkNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const oldest = engines.node.replace('>=', '')
  const { node } = process.versions
  if (node.localeCompare(oldest, 'en', { numeric: true }) < 0)
    throw new Error(`Node.js ${oldest} or newer is needed, and this is ${node}.`)
}

function checkWritable() {
  try {
    accessSync(root, constants.W_OK)
  } catch {
    throw new Error(`${root} is read-only: packages and the compiled program are written there.`)
  }
}

try {
  checkNode()
  if (!isInstalled() || !isCompiled()) checkWritable()
  if (!isInstalled()) await withSpinner('Installing packages (npm install)', install)
  if (!isCompiled()) await withSpinner('Compiling', compile)
} catch (error) {
  process.stderr.write(`oriel: ${error.message}\n`)
  process.exitCode = 1
}
