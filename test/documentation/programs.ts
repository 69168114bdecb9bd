import assert from 'node:assert/strict'
import {
  ignoredByCacheServer,
  ignoredByFrontProxy,
  ignoredByStart,
  ignoredByViews,
} from '../../cmd/flags/ignored.ts'
import { refusedByStores } from '../../cmd/flags/kcp.ts'
import { compiled, run } from '../support/oriel.ts'

/** The flags of each command of the program, such as `user add`, with their dashes. */
export type Program = ReadonlyMap<string, ReadonlySet<string>>

/** What the program prints with `--help`, and its flags without effect, which the help omits. */
export async function readProgram(): Promise<Program> {
  const found = new Map<string, ReadonlySet<string>>()
  await addCommand([], found)
  return found
}

const hidden: Readonly<Record<string, readonly string[]>> = {
  start: Object.keys({ ...ignoredByStart, ...refusedByStores }),
  'front-proxy': Object.keys(ignoredByFrontProxy),
  'cache-server': Object.keys({ ...ignoredByCacheServer, ...refusedByStores }),
  'virtual-workspaces': Object.keys(ignoredByViews),
}

async function addCommand(path: readonly string[], into: Map<string, ReadonlySet<string>>): Promise<void> {
  const { code, stdout } = await run(process.execPath, [compiled, ...path, '--help'])
  assert.equal(code, 0, stdout)
  const shown = [...stdout.matchAll(/^ {2}(?:(-\w), )?(--[a-z][\w-]*)/gm)].flatMap(found => found.slice(1))
  const name = path.join(' ')
  into.set(name, new Set([...shown.filter(Boolean), ...(hidden[name] ?? []).map(flag => `--${flag}`)]))
  await Promise.all(commandsIn(stdout).map(command => addCommand([...path, command], into)))
}

/** The names below the headings of commands. `help` is that of commander. */
const commandsIn = (help: string): readonly string[] =>
  [...help.matchAll(/^(?:Servers|Tools|Commands):\n((?: {2}.*\n)+)/gm)]
    .flatMap(([, lines = '']) => [...lines.matchAll(/^ {2}([a-z][a-z-]*)/gm)])
    .map(([, name = '']) => name)
    .filter(name => name !== 'help')

/** The flags of other programs that the pages name. */
export const flagsOfOthers: Readonly<Record<string, readonly string[]>> = {
  kubectl: [
    ...['-f', '-n', '-o', '-p', '-s', '-w'],
    ...['--all-namespaces', '--applyset', '--as', '--as-group', '--cascade', '--certificate-authority'],
    ...['--clusterrole', '--context', '--dry-run', '--duration', '--flatten', '--for', '--force'],
    ...['--force-conflicts', '--from-file', '--from-literal', '--insecure-skip-tls-verify', '--kubeconfig'],
    ...['--list', '--minify', '--namespace', '--output', '--output-watch-events', '--prune', '--raw'],
    ...['--resource', '--resource-name', '--server', '--server-side', '--serviceaccount', '--timeout'],
    ...['--token', '--type', '--user', '--verb', '--wait', '--watch', '--watch-only'],
  ],
  docker: ['-f', '-t', '-v', '-p', '--read-only', '--rm'],
  helm: ['--namespace', '--create-namespace', '--set'],
  etcd: [
    '--quota-backend-bytes',
    '--auto-compaction-retention',
    '--initial-cluster-token',
    '--max-request-bytes',
  ],
  kcp: [
    '--run-virtual-workspaces',
    '--shard-virtual-workspace-ca-file',
    '--shard-client-cert-file',
    '--shard-client-key-file',
  ],
  'sharded-test-server': [
    '--quiet',
    '--v',
    '--log-dir-path',
    '--work-dir-path',
    '--shard-run-virtual-workspaces',
    '--number-of-shards',
    '--shard-feature-gates',
    '--proxy-feature-gates',
  ],
  go: ['-v', '-args', '--kcp-kubeconfig', '--shard-kubeconfigs', '-overlay'],
  mocha: ['--no-config', '--import', '--timeout', '--exit'],
  node: ['--import', '-e'],
  npm: ['--yes'],
  systemctl: ['--now'],
  journalctl: ['-u'],
  unshare: ['--net', '-c'],
  '[': ['-f'],
  'npm run bench': ['--save'],
  jq: ['-c'],
  sed: ['-i.bak'],
  grep: ['--only-matching', '-c', '-o', '-q', '-v'],
  tail: ['-n'],
  mkdir: ['-p'],
  mktemp: ['-d'],
  ln: ['-s'],
  sh: ['-c'],
}

/** Programs of every system, whose flags are in the table if the pages use some. */
export const otherPrograms = [
  ...[
    'cat',
    'cd',
    'chmod',
    'cp',
    'echo',
    'etcdctl',
    'exec',
    'export',
    'ip',
    'kill',
    'printf',
    'sleep',
    'sudo',
  ],
  ...['true', 'npx', ...Object.keys(flagsOfOthers)],
]
