// The end-to-end tests with objects in memory, in a directory and in etcd, each with one and with three processes on one port.
// `npm run test:stores -- [memory:1 …] [folder of test/e2e …]` runs some arrangements, and some folders.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
// Also extends PATH for the processes of the tests.
process.env.SEED ??= '1'
const { require, jobs, timeout, reporter } = createRequire(import.meta.url)('../.mocharc.cjs')
const allArrangements = ['memory:1', 'memory:3', 'directory:1', 'directory:3', 'etcd:1', 'etcd:3']

const wanted = process.argv.slice(2)
const arrangements = wanted.filter(each => each.includes(':'))
const folders = wanted.filter(each => !each.includes(':'))

const isFolder = entry => entry.isDirectory()
const allFolders = readdirSync(join(root, 'test/e2e'), { withFileTypes: true }).filter(isFolder)
const unknown = [
  ...arrangements.filter(each => !allArrangements.includes(each)),
  ...folders.filter(each => !allFolders.some(({ name }) => name === each)),
]
if (unknown.length > 0)
  throw new Error(`${unknown[0]} is neither of ${allArrangements} nor a folder of test/e2e`)

// test/support/oriel.ts reads them.
function storeOf(store, etcd) {
  if (store === 'memory') return { TEST_STORE: 'memory:' }
  return store === 'etcd' ? { TEST_ETCD: etcd.endpoint } : {}
}

async function runTests(env) {
  const chosen = folders.length === 0 ? allFolders.map(({ name }) => name) : folders
  const files = chosen.map(folder => `dist/test/e2e/${folder}/*.test.js`)
  const options = ['--no-config', '--enable-source-maps', '--exit', '--parallel']
  const values = { require, jobs, timeout, reporter }
  const line = [
    'mocha',
    ...options,
    ...Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ...files,
  ]
  const mocha = spawn('npx', line, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  const [code] = await once(mocha, 'exit')
  return code === 0
}

async function runOn(arrangement) {
  const [store, processes] = arrangement.split(':')
  const { startEtcd } = await import('../dist/test/support/servers/etcd.js')
  const etcd = store === 'etcd' ? await startEtcd() : undefined
  try {
    return await runTests({ ...storeOf(store, etcd), ...(processes !== '1' && { TEST_REPLICAS: processes }) })
  } finally {
    await etcd?.stop()
  }
}

for (const arrangement of arrangements.length === 0 ? allArrangements : arrangements) {
  console.log(`── ${arrangement}`)
  const passed = await runOn(arrangement)
  console.log(`${arrangement} ${passed ? 'passed' : 'failed'}`)
  if (!passed) process.exitCode = 1
}
