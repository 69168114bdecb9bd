// The arrangements of kcp's and Oriel's programs that scripts/kcp-e2e.mjs tests.
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Which program is each process of kcp's sharded test server. `root` is the root shard, `other` the second one; without `other` there is
 * one shard. `views` is the process of views; without it, views are in the shards. `alone` is `oriel start` without the test server.
 */
export const arrangements = {
  kcp: { root: 'kcp', other: 'kcp', proxy: 'kcp', cache: 'kcp' },
  'kcp-one-shard': { root: 'kcp', proxy: 'kcp', cache: 'kcp' },
  'one-server': { alone: true },
  'two-shards': { root: 'oriel', other: 'oriel', proxy: 'oriel', cache: 'oriel' },
  'kcp-root': { root: 'kcp', other: 'oriel', proxy: 'kcp', cache: 'kcp' },
  'oriel-root': { root: 'oriel', other: 'kcp', proxy: 'oriel', cache: 'oriel' },
  'kcp-proxy': { root: 'oriel', other: 'oriel', proxy: 'kcp', cache: 'oriel' },
  'oriel-proxy': { root: 'kcp', other: 'kcp', proxy: 'oriel', cache: 'kcp' },
  'kcp-views': { root: 'kcp', proxy: 'kcp', cache: 'kcp', views: 'kcp' },
  'kcp-views-two-shards': { root: 'kcp', other: 'kcp', proxy: 'kcp', cache: 'kcp', views: 'kcp' },
  'oriel-views': { root: 'kcp', proxy: 'kcp', cache: 'kcp', views: 'oriel' },
  'oriel-views-two-shards': { root: 'kcp', other: 'kcp', proxy: 'kcp', cache: 'kcp', views: 'oriel' },
}

export const shardsOf = ({ other }) => (other === undefined ? 1 : 2)

/** Oriel connects to addresses of this machine only where a flag allows it. */
export const allowed = [
  '--webhook-allow',
  '127.0.0.1',
  '--mount-allow',
  '127.0.0.1',
  '--issuer-allow',
  '127.0.0.1',
]

/** The commands of Oriel for the programs of kcp, and their additional arguments. */
const commands = {
  kcp: [[], allowed],
  'kcp-front-proxy': [['front-proxy'], ['--mount-allow', '127.0.0.1']],
  'cache-server': [['cache-server'], []],
  'virtual-workspaces': [['virtual-workspaces'], []],
}

/**
 * Writes programs with the names of kcp's into `folder`, which start those of an arrangement, and returns the
 * environment that names them. `kcps(name)` is the path of a program of kcp; `oriel` is the command line of Oriel.
 */
export function writePrograms({ root, other = root, proxy, cache, views }, { folder, kcps, oriel }) {
  const line = (name, whose) => {
    const [command, more] = commands[name]
    const isKcp = whose === 'kcp'
    const words = isKcp ? [kcps(name)] : [...oriel, ...command]
    return `exec ${words.map(quoted).join(' ')} "$@"${isKcp || more.length === 0 ? '' : ` ${more.join(' ')}`}`
  }
  const write = (name, text) => {
    const file = join(folder, name)
    writeFileSync(file, `#!/bin/sh\n${text}\n`)
    chmodSync(file, 0o755)
    return file
  }
  const shard = `case " $* " in\n*" --shard-name=shard-"*) ${line('kcp', other)} ;;\n*) ${line('kcp', root)} ;;\nesac`
  return {
    KCP_ASSET_KCP: write('kcp', shard),
    KCP_ASSET_KCP_FRONT_PROXY: write('kcp-front-proxy', line('kcp-front-proxy', proxy)),
    KCP_ASSET_CACHE_SERVER: write('cache-server', line('cache-server', cache)),
    ...(views && {
      KCP_ASSET_VIRTUAL_WORKSPACES: write('virtual-workspaces', line('virtual-workspaces', views)),
    }),
  }
}

const quoted = word => `'${word.replaceAll("'", "'\\''")}'`

/** The lines of the table: a test that passes with the first arrangement and not with another one makes it a failure. */
export function tableOf(results) {
  const names = Object.keys(results)
  const [first] = names
  const tests = [...new Set(names.flatMap(name => Object.keys(results[name])))].toSorted()
  const row = cells => `| ${cells.join(' | ')} |\n`
  const outcome = (name, test) => (results[name][test] ?? 'missing').toLowerCase()
  const rows = tests.map(test => {
    const [path, what] = test.split(' ')
    return row([path, what, ...names.map(name => outcome(name, test))])
  })
  const head = row(['package', 'test', ...names]) + row(['package', 'test', ...names].map(() => '---'))
  const isWorse = test =>
    outcome(first, test) === 'pass' && names.some(name => ['fail', 'missing'].includes(outcome(name, test)))
  return { text: head + rows.join(''), isWorse: tests.some(isWorse) }
}
