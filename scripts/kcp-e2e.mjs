// Runs kcp's own end-to-end tests of views, unmodified, on its sharded test server: once with kcp's virtual-workspaces
// process and once with Oriel's in its place. Prints what became of each test as a table. See docs/kcp-e2e.md.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, createWriteStream, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** Below kcp's test/e2e. A logical cluster moves only where there are two shards. */
const allPackages = [
  'virtual/apiexport',
  'virtual/apiresourceschema',
  'virtual/initializingworkspaces',
  'virtual/replication',
  'virtual/terminatingworkspaces',
  'virtualresources/clustercachedresources',
  'logicalclustermigration',
]
/** As in kcp's Makefile. */
const gates = 'WorkspaceMounts=true,CacheAPIs=true,WorkspaceAuthentication=true,LogicalClusterMigration=true'
const programs = ['kcp', 'kcp-front-proxy', 'cache-server', 'sharded-test-server', 'virtual-workspaces']

const source = process.env.KCP_SOURCE
const shards = Number(process.env.SHARDS ?? 1)
const packages = process.env.PACKAGES?.split(',') ?? allPackages.slice(0, shards > 1 ? undefined : -1)
if (source === undefined) throw new Error('KCP_SOURCE has to name a checkout of kcp.')
const folder = mkdtempSync(join(tmpdir(), 'kcp-e2e-'))
const built = name => join(folder, 'bin', name)

function buildAll() {
  const go = args => execFileSync('go', args, { cwd: source, stdio: 'inherit' })
  for (const name of programs) go(['build', '-o', built(name), `./cmd/${name}`])
  for (const path of packages) go(['test', '-c', '-o', built(`${basename(path)}.test`), `./test/e2e/${path}`])
  const oriel = fileURLToPath(new URL('../dist/bundle/oriel.cjs', import.meta.url))
  const script = `#!/bin/sh\nexec "${process.execPath}" "${oriel}" virtual-workspaces "$@"\n`
  writeFileSync(built('oriel'), script)
  chmodSync(built('oriel'), 0o755)
}

const assets = views => ({
  ...process.env,
  NO_GORUN: '1',
  UNSAFE_E2E_HACK_DISABLE_ETCD_FSYNC: 'true',
  KCP_ASSET_KCP: built('kcp'),
  KCP_ASSET_KCP_FRONT_PROXY: built('kcp-front-proxy'),
  KCP_ASSET_CACHE_SERVER: built('cache-server'),
  KCP_ASSET_VIRTUAL_WORKSPACES: built(views),
})

/** What a program prints goes to a file. */
function start(file, args, { log, ...options }) {
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const out = createWriteStream(log)
  child.stdout.pipe(out)
  child.stderr.pipe(out)
  return child
}

async function startServer(work, env) {
  mkdirSync(join(work, '.kcp'), { recursive: true })
  const args = [
    ...['--quiet', '--v=2', `--log-dir-path=${join(work, 'logs')}`, `--work-dir-path=${work}`],
    ...['--shard-run-virtual-workspaces=false', `--number-of-shards=${shards}`],
    ...[`--shard-feature-gates=${gates}`, `--proxy-feature-gates=${gates}`],
  ]
  mkdirSync(join(work, 'logs'))
  const log = join(work, 'server.log')
  const server = start(built('sharded-test-server'), args, { env, log, detached: true })
  process.on('exit', () => killGroup(server.pid))
  while (!existsSync(join(work, '.kcp', 'ready-to-test'))) {
    if (server.exitCode !== null) throw new Error(`The test server has ended: see ${work}/server.log.`)
    await sleep(500)
  }
  return server
}

const shardKubeconfigs = work =>
  Array.from({ length: shards }, (_, n) => {
    const name = n === 0 ? 'root' : `shard-${n}`
    return `${name}=${join(work, `.kcp-${n}`, 'admin.kubeconfig')}`
  }).join(',')

/** How each test of a package ended, by name. */
async function judge(path, work, env) {
  const name = basename(path)
  const args = [
    ...['-test.v', '-test.count=1', '-test.parallel=2', '-test.timeout=40m'],
    `--kcp-kubeconfig=${join(work, '.kcp', 'admin.kubeconfig')}`,
    `--shard-kubeconfigs=${shardKubeconfigs(work)}`,
  ]
  const cwd = join(source, 'test/e2e', path)
  const tests = start(built(`${name}.test`), args, { cwd, env, log: join(work, `${name}.log`) })
  let text = ''
  tests.stdout.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  await once(tests, 'close')
  return Array.from(text.matchAll(/^--- (PASS|FAIL|SKIP): (\w+)/gm), ([, how, test]) => [test, how])
}

async function run(views) {
  const work = join(folder, views)
  const env = assets(views)
  const server = await startServer(work, env)
  const results = {}
  for (const path of packages) results[path] = Object.fromEntries(await judge(path, work, env))
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
const theirs = await run('virtual-workspaces')
const ours = await run('oriel')
process.stdout.write('| test | kcp | Oriel |\n|---|---|---|\n')
for (const path of packages)
  for (const test of Object.keys(theirs[path]).sort()) {
    const [before, now] = [theirs[path][test], ours[path][test] ?? 'MISSING'].map(how => how.toLowerCase())
    process.stdout.write(`| ${basename(path)}: ${test} | ${before} | ${now} |\n`)
    if (before === 'pass' && now !== 'pass') process.exitCode = 1
  }
process.stderr.write(`Logs are in ${folder}.\n`)
