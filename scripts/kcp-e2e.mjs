// Runs kcp's own end-to-end tests, unmodified, in arrangements of kcp's and Oriel's programs (scripts/kcparrangements.mjs), and prints what
// became of each test as one table. See docs/kcp-e2e.md.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { allowed, arrangements, shardsOf, tableOf, writePrograms } from './kcparrangements.mjs'

/** As in kcp's Makefile. */
const gates = 'WorkspaceMounts=true,CacheAPIs=true,WorkspaceAuthentication=true,LogicalClusterMigration=true'
const programs = ['kcp', 'kcp-front-proxy', 'cache-server', 'sharded-test-server', 'virtual-workspaces']

const {
  KCP_SOURCE: source,
  ARRANGEMENTS = 'kcp,one-server,two-shards',
  TESTS = '',
  PARALLEL = '2',
} = process.env
if (source === undefined) throw new Error('KCP_SOURCE has to name a checkout of kcp.')
const names = ARRANGEMENTS.split(',')
const unknown = names.filter(name => !(name in arrangements))
if (unknown.length > 0)
  throw new Error(
    `No arrangement ${unknown.join(', ')}: give some of ${Object.keys(arrangements).join(', ')}.`,
  )
const packages = process.env.PACKAGES?.split(',') ?? allPackages()
const folder = mkdtempSync(join(tmpdir(), 'kcp-e2e-'))
const bin = process.env.KCP_BUILT ?? join(folder, 'bin')
const built = name => join(bin, name)
const testOf = path => built(`${path.replaceAll('/', '_')}.test`)
const oriel = [process.execPath, fileURLToPath(new URL('../dist/bundle/oriel.cjs', import.meta.url))]

/** The folders below kcp's test/e2e with tests. */
function allPackages() {
  const root = join(source, 'test/e2e')
  const files = execFileSync('grep', ['-rl', '--include=*_test.go', '^func Test', root], { encoding: 'utf8' })
  const folders = files
    .trim()
    .split('\n')
    .map(file => relative(root, join(file, '..')))
  return [...new Set(folders)].toSorted()
}

/** Programs and tests that KCP_BUILT has already are not built again. */
function buildAll() {
  mkdirSync(bin, { recursive: true })
  const build = (args, file, path) => {
    if (!existsSync(file)) execFileSync('go', [...args, '-o', file, path], { cwd: source, stdio: 'inherit' })
  }
  const used = new Set(names.flatMap(name => (arrangements[name].views ? programs : programs.slice(0, -1))))
  for (const name of used) build(['build'], built(name), `./cmd/${name}`)
  for (const path of packages) build(['test', '-c'], testOf(path), `./test/e2e/${path}`)
}

/** What a program prints goes to a file. */
function start(file, args, { log, ...options }) {
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const out = createWriteStream(log)
  child.stdout.pipe(out)
  child.stderr.pipe(out)
  return child
}

/** A server of its own process group, when `isReady`. */
async function startServer(work, file, args, { env, isReady }) {
  const log = join(work, 'server.log')
  const server = start(file, args, { env, log, detached: true })
  process.on('exit', () => killGroup(server.pid))
  while (!isReady()) {
    if (server.exitCode !== null) throw new Error(`The server has ended: see ${log}.`)
    await sleep(500)
  }
  return server
}

/** kcp's sharded test server with the programs of an arrangement, and the arguments of tests. */
async function startSharded(arrangement, work, env) {
  mkdirSync(join(work, '.kcp'))
  mkdirSync(join(work, 'logs'))
  const shards = shardsOf(arrangement)
  const args = [
    ...['--quiet', '--v=2', `--log-dir-path=${join(work, 'logs')}`, `--work-dir-path=${work}`],
    ...[`--number-of-shards=${shards}`, `--shard-feature-gates=${gates}`, `--proxy-feature-gates=${gates}`],
    ...(arrangement.views ? ['--shard-run-virtual-workspaces=false'] : []),
  ]
  const isReady = () => existsSync(join(work, '.kcp', 'ready-to-test'))
  const server = await startServer(work, built('sharded-test-server'), args, { env, isReady })
  const kubeconfigs = Array.from({ length: shards }, (_, n) => {
    const name = n === 0 ? 'root' : `shard-${n}`
    return `${name}=${join(work, `.kcp-${n}`, 'admin.kubeconfig')}`
  })
  const kubeconfig = join(work, '.kcp', 'admin.kubeconfig')
  return { server, args: [`--kcp-kubeconfig=${kubeconfig}`, `--shard-kubeconfigs=${kubeconfigs}`] }
}

/** `oriel start`, without the test server. */
async function startAlone(work, env) {
  const ca = name => join(work, `client-ca.${name}`)
  const names = ['-keyout', ca('key'), '-out', ca('crt'), '-subj', '/CN=client-ca']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names], {
    stdio: 'ignore',
  })
  const tokens = join(source, 'staging/src/github.com/kcp-dev/sdk/testing/auth-tokens.csv')
  const [node, ...program] = oriel
  const flags = ['--data-directory', work, '--client-ca-file', ca('crt'), '--token-auth-file', tokens]
  const args = [...program, 'start', ...flags, ...allowed]
  const kubeconfig = join(work, 'admin.kubeconfig')
  const server = await startServer(work, node, args, { env, isReady: () => existsSync(kubeconfig) })
  return { server, args: [`--kcp-kubeconfig=${kubeconfig}`] }
}

/** How each test of a package ended, as `<package> <test>`. */
async function judge(path, work, { env, args }) {
  const log = join(work, `${path.replaceAll('/', '_')}.log`)
  const selected = TESTS === '' ? [] : [`-test.run=${TESTS}`]
  const flags = ['-test.v', '-test.count=1', `-test.parallel=${PARALLEL}`, '-test.timeout=60m', ...selected]
  const tests = start(testOf(path), [...flags, ...args], { cwd: join(source, 'test/e2e', path), env, log })
  let text = ''
  tests.stdout.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  await once(tests, 'close')
  const found = text.matchAll(/^--- (PASS|FAIL|SKIP): (\w+)/gm)
  return Array.from(found, ([, how, test]) => [`${path} ${test}`, how])
}

async function run(name) {
  const arrangement = arrangements[name]
  const work = join(folder, name)
  const programFolder = join(folder, `${name}-programs`)
  for (const path of [work, programFolder]) mkdirSync(path)
  const chosen = arrangement.alone ? { root: 'oriel', proxy: 'oriel', cache: 'kcp' } : arrangement
  const env = {
    ...process.env,
    ...{ NO_GORUN: '1', UNSAFE_E2E_HACK_DISABLE_ETCD_FSYNC: 'true' },
    ...(arrangement.alone && { KCP_CLIENT_CA_DIR: work }),
    ...writePrograms(chosen, { folder: programFolder, kcps: built, oriel }),
  }
  const { server, args } = await (arrangement.alone
    ? startAlone(work, env)
    : startSharded(arrangement, work, env))
  const results = {}
  for (const path of packages)
    Object.assign(results, Object.fromEntries(await judge(path, work, { env, args })))
  server.kill('SIGINT')
  await once(server, 'exit')
  await endGroup(server.pid)
  return results
}

/** The test server leaves processes behind, which still have its ports. */
async function endGroup(pid) {
  for (let left = 50; left > 0 && killGroup(pid); left--) await sleep(100)
}

/** Whether there was anybody left. */
function killGroup(pid) {
  try {
    return process.kill(-pid, 'SIGKILL')
  } catch {
    return false
  }
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
buildAll()
const results = {}
for (const name of names)
  results[name] = await run(name).catch(error => {
    process.stderr.write(`${name}: ${error.message}\n`)
    return {}
  })
const { text, isWorse } = tableOf(results)
process.stdout.write(text)
process.exitCode = isWorse ? 1 : 0
process.stderr.write(`Logs are in ${folder}.\n`)
