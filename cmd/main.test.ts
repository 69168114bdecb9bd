import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beside, root } from '../test/support/source.ts'

const program = beside(import.meta, 'main')

interface Run {
  readonly child: ChildProcess
  /** Everything written to stdout and stderr so far. */
  text(): string
  /** Resolves when the output matches `pattern`; rejects when the program ends before. */
  says(pattern: RegExp): Promise<void>
  readonly ended: Promise<number | null>
}

function oriel(...args: string[]): Run {
  const child = spawn(process.execPath, [...program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const ended = once(child, 'close').then(([code]) => code as number | null)
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (text += chunk))
  const says = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(text))
      await Promise.race([
        once(child.stdout, 'data'),
        ended.then(code => assert.fail(`ended with ${code}: ${text}`)),
      ])
  }
  return { child, text: () => text, says, ended }
}

describe('oriel', function () {
  this.slow(10_000)
  let parent: string
  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'oriel-main-'))
  })
  after(() => rm(parent, { recursive: true, force: true }))

  const start = (name: string, ...args: string[]): Run =>
    oriel('start', '--data-directory', join(parent, name), '--port', '0', '--store', 'memory:', ...args)

  it('prints its version', async () => {
    const { ended, text } = oriel('--version')
    assert.equal(await ended, 0)
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    assert.equal(text(), `${version}\n`)
  })

  it('lists the flags of a command in groups, the common ones first', async () => {
    for (const [command, groups] of [
      [
        'start',
        /^Options:.*\n\nAuthentication:.*\n\nAuthorization:.*\n\nAudit:.*\n\nMounts:.*\n\nSharding:.*\n\nLimits:/ms,
      ],
      ['front-proxy', /^Options:.*--mapping-file.*\n\nAuthentication:.*\n\nMounts:/ms],
      ['virtual-workspaces', /^Options:.*--kubeconfig.*\n\nOther servers:.*\n\nAudit:/ms],
    ] as const) {
      const { ended, text } = oriel(command, '--help')
      assert.equal(await ended, 0)
      assert.match(text(), groups)
      const [, common = ''] = /^Options:\n(.*?)\n\n/ms.exec(text()) ?? []
      assert.ok([...common.matchAll(/^ +(?:-v, )?--/gm)].length <= 12, common)
      assert.doesNotMatch(text(), /\d,\d{3}/, 'flags take no numbers with commas')
    }
  })

  it("starts with kcp's command line", async () => {
    const at = join(parent, 'kcp')
    const kubeconfig = join(parent, 'kcp.kubeconfig')
    const { child, says, text, ended } = oriel(
      ...['start', '--root-directory', at, '--secure-port=0', `--kubeconfig-path=${kubeconfig}`, '--v=1'],
      ...[
        '--embedded-etcd-client-port=1',
        '--embedded-etcd-wal-size-bytes=5000',
        '--batteries-included=user',
      ],
      ...['--feature-gates=WorkspaceMounts=true,CacheAPIs=false', '--profiling', '--run-controllers=true'],
    )
    await says(/Oriel serves/)
    assert.ok((await readFile(kubeconfig, 'utf8')).includes('shard-base'))
    assert.ok((await stat(join(at, 'store'))).isDirectory())
    for (const line of [
      '--embedded-etcd-client-port is ignored: objects are stored in --store, without etcd',
      '--feature-gates is ignored: all features are enabled',
      '--profiling is ignored: ',
    ])
      assert.ok(text().includes(line), `${line} in ${text()}`)
    child.kill()
    assert.equal(await ended, 0)
  })

  describe('reports in one sentence what to change:', () => {
    const file = (name: string): string => join(parent, name)
    before(async () => {
      await writeFile(file('notes.txt'), 'not a token file\n')
    })
    const table: readonly [what: string, args: () => string[], sentence: RegExp][] = [
      ['an unknown flag', () => ['--prot', '1'], /error: unknown option '--prot'\n\(Did you mean --port\?\)/],
      [
        'a token lifetime that is too short',
        () => ['--service-account-max-token-expiration', '10m'],
        /The lifetime of tokens is between 1 hour and 2\^32 seconds\./,
      ],
      [
        'an invalid issuer',
        () => ['--service-account-issuer', ':x'],
        /An issuer is a URL, or a name without a colon\./,
      ],
      [
        'an invalid feature gate',
        () => ['--feature-gates=WatchList=true,Everything'],
        /Give feature gates such as WorkspaceMounts=true, comma-separated\./,
      ],
      [
        'a store in two places',
        () => ['--etcd-servers', 'http://localhost:2379'],
        /option '--etcd-servers <urls>' cannot be used with option '--store <location>'/,
      ],
      [
        'encryption, which the store does not have',
        () => ['--encryption-provider-config', 'a.yaml'],
        /is invalid\. Objects are stored without encryption: encrypt the file system of --store\./,
      ],
      [
        "kcp's name beside that of Oriel",
        () => ['--secure-port', '1'],
        /option '--secure-port <number>' cannot be used with option '--port <number>'/,
      ],
      [
        '--watch without views of plugins',
        () => ['--watch'],
        /^oriel: --watch has no effect without --view or --views: add one of them, or remove --watch\.\n$/,
      ],
      [
        'an unknown authorizer',
        () => ['--authorization-order', 'RBAC,Root'],
        /is invalid\. "Root" is not one of AlwaysAllowGroups, AlwaysAllowPaths, RBAC, Webhook\.\n/,
      ],
      [
        'an authorizer twice',
        () => ['--authorization-order', 'RBAC,RBAC'],
        /is invalid\. Remove the second "RBAC"\.\n/,
      ],
      [
        'a name of a front proxy without certificate authorities of front proxies',
        () => ['--requestheader-allowed-names', 'proxy'],
        /^oriel: --requestheader-allowed-names has no effect without --requestheader-client-ca-file: add .*\.\n$/,
      ],
      ['an invalid port', () => ['--port', '99999'], /A port is a number from 0 to 65535\./],
      ['an invalid address', () => ['--bind-address', 'here'], /An address is an IPv4 or IPv6 address/],
      [
        'a URL instead of a host name',
        () => ['--external-hostname', 'https://x'],
        /A host name has no scheme, port or path/,
      ],
      [
        'an unknown log level',
        () => ['--log-level', 'loud'],
        /Allowed choices are debug, info, warn, error, silent/,
      ],
      [
        'an address of another machine',
        () => ['--bind-address', '192.0.2.1'],
        /^oriel: 192\.0\.2\.1 is not an address of this machine: choose another --bind-address\.\n$/,
      ],
      [
        'a file instead of a directory',
        () => ['--data-directory', file('notes.txt')],
        /^oriel: .*notes\.txt is not a directory: choose another one with --data-directory\.\n$/,
      ],
      [
        'a store in memory without its colon',
        () => ['--store', 'memory'],
        /^oriel: --store memory is ambiguous: write "memory:" to keep objects in memory, or "\.\/memory" for a directory\.\n$/,
      ],
      [
        'a store of another database',
        () => ['--store', 'postgres://db:5432'],
        /^oriel: --store postgres:\/\/db:5432 has an unknown scheme: give a directory, "memory:", or etcd:\/\/host:2379\.\n$/,
      ],
      [
        'an empty store',
        () => ['--store', ''],
        /^oriel: --store is empty: give it a value, or remove --store\.\n$/,
      ],
      [
        'a store that is a file',
        () => ['--store', file('notes.txt')],
        /^oriel: the store in .*notes\.txt cannot be opened: this is not a directory: choose another one\.\n$/,
      ],
      [
        'credentials of etcd beside another store',
        () => ['--etcd-cafile', file('notes.txt')],
        /^oriel: --etcd-cafile is for a store in etcd, of which there is none: add its address, such as etcd:\/\/host:2379, or remove --etcd-cafile\.\n$/,
      ],
      [
        'an empty data directory',
        () => ['--data-directory', ''],
        /^oriel: --data-directory is empty: give it a value, or remove --data-directory\.\n$/,
      ],
      [
        'a missing token file',
        () => ['--token-auth-file', file('none')],
        /^oriel: .*none cannot be read \(ENOENT\): give --token-auth-file a readable file\.\n$/,
      ],
      [
        'an invalid token file',
        () => ['--token-auth-file', file('notes.txt')],
        /^oriel: .*notes\.txt is not a token file: line 1 has 1 of at least 3 columns .*\n$/,
      ],
      [
        'an invalid certificate authority',
        () => ['--client-ca-file', file('notes.txt')],
        /^oriel: .*notes\.txt contains no valid certificate: give --client-ca-file a PEM file\.\n$/,
      ],
      [
        'an invalid certificate authority of mounted servers',
        () => ['--mount-ca-file', file('notes.txt')],
        /^oriel: .*notes\.txt contains no valid certificate: give --mount-ca-file a PEM file\.\n$/,
      ],
    ]
    for (const [what, args, sentence] of table)
      it(what, async () => {
        const { ended, text } = start('mistakes', ...args())
        assert.equal(await ended, 1)
        assert.match(text(), sentence)
      })

    it('a port in use', async () => {
      const taken = createServer().listen(0, '127.0.0.1')
      await once(taken, 'listening')
      const { port } = taken.address() as AddressInfo
      const { ended, text } = start('taken', '--port', String(port))
      assert.equal(await ended, 1)
      taken.close()
      assert.match(
        text(),
        new RegExp(`oriel: Port ${port} on 127.0.0.1 is in use: choose another one with --port\\.`),
      )
    })
  })

  it('serves until a signal, locks its data directory, and keeps the shard-admin token across restarts', async () => {
    const tokens = async (): Promise<string[]> => {
      const kubeconfig = await readFile(join(parent, 'data', 'admin.kubeconfig'), 'utf8')
      return [...kubeconfig.matchAll(/token: (.*)/g)].map(match => match[1] ?? '')
    }
    const first = start('data')
    await first.says(/Oriel serves https:\/\/localhost:\d+ /)
    const second = start('data')
    assert.equal(await second.ended, 1)
    assert.match(second.text(), /^oriel: Another oriel runs on .*: stop it, or choose another directory/)
    const before = await tokens()
    first.child.kill('SIGTERM')
    assert.equal(await first.ended, 0)

    const third = start('data', '--log-level', 'info')
    await third.says(/Oriel serves/)
    const after = await tokens()
    third.child.kill('SIGINT')
    assert.equal(await third.ended, 0)
    assert.match(third.text(), /^\{"level":30,"time":\d+,"msg":"the server has stopped"\}$/m)
    assert.equal(after[1], before[1])
    assert.notEqual(after[0], before[0])
  })
})
