import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled, run } from '../../test/support/oriel.ts'

const kubeconfig = (server: string): string =>
  JSON.stringify({
    'current-context': 'shard',
    contexts: ['shard', 'other'].map(name => ({ name, context: { cluster: 'shard', user: 'admin' } })),
    clusters: [{ name: 'shard', cluster: { server, 'certificate-authority': 'missing.crt' } }],
    users: [{ name: 'admin', user: { token: 'x' } }],
  })

describe('oriel virtual-workspaces', () => {
  let directory: string
  const file = (name: string): string => join(directory, name)
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-flags-'))
    await writeFile(file('notes.txt'), 'nothing in particular\n')
    await writeFile(
      file('config'),
      kubeconfig('https://127.0.0.1:1').replace('"certificate-authority":"missing.crt"', '"x":1'),
    )
    await writeFile(
      file('uncertified'),
      kubeconfig('https://127.0.0.1:1')
        .replace('"certificate-authority":"missing.crt"', '"x":1')
        .replace('"token":"x"', '"client-certificate":"notes.txt"'),
    )
    await writeFile(file('broken'), kubeconfig('https://127.0.0.1:1'))
  })
  after(() => rm(directory, { recursive: true }))

  const table: readonly [what: string, args: () => string[], sentence: RegExp][] = [
    ['no kubeconfig', () => [], /required option '--kubeconfig <path>' not specified/],
    [
      'a missing kubeconfig',
      () => ['--kubeconfig', file('none')],
      /^oriel: .*none cannot be read \(ENOENT\): give the name of a readable file \(--kubeconfig\)\.\n$/,
    ],
    [
      'an invalid kubeconfig',
      () => ['--kubeconfig', file('notes.txt')],
      /^oriel: .*notes\.txt is not a kubeconfig \(--kubeconfig\)\.\n$/,
    ],
    [
      'a missing context',
      () => ['--kubeconfig', file('config'), '--context', 'root'],
      /^oriel: .*config has no context "root": it has "shard", "other" \(--kubeconfig\)\.\n$/,
    ],
    [
      'a missing certificate authority',
      () => ['--kubeconfig', file('broken')],
      /^oriel: .*missing\.crt cannot be read \(ENOENT\): give the name of a readable file \(--kubeconfig\)\.\n$/,
    ],
    [
      'an invalid client certificate',
      () => ['--kubeconfig', file('uncertified')],
      /^oriel: .*uncertified has an invalid client certificate: give the user another one \(--kubeconfig\)\.\n$/,
    ],
    [
      'a missing kubeconfig of the cache server, by the flag that was given',
      () => ['--kubeconfig', file('config'), '--cache-server-kubeconfig-file', file('none')],
      /^oriel: .*none cannot be read \(ENOENT\): give the name of a readable file \(--cache-server-kubeconfig-file\)\.\n$/,
    ],
    [
      'a certificate without a key',
      () => ['--kubeconfig', file('config'), '--tls-cert-file', file('notes.txt')],
      /oriel: --tls-cert-file and --tls-private-key-file must be specified together: add the missing one\.\n$/,
    ],
    [
      'an invalid serving certificate',
      () => [
        ...['--kubeconfig', file('config'), '--tls-cert-file', file('notes.txt')],
        ...['--tls-private-key-file', file('notes.txt')],
      ],
      /^oriel: .*notes\.txt contains no valid certificate: give --tls-cert-file a PEM file\.\n$/,
    ],
    [
      'an invalid client certificate authority',
      () => ['--kubeconfig', file('config'), '--client-ca-file', file('notes.txt')],
      /^oriel: .*notes\.txt contains no valid certificate: give --client-ca-file a PEM file\.\n$/,
    ],
    ['an invalid port', () => ['--secure-port', 'x'], /A port is a number from 0 to 65535\./],
    ['an invalid verbosity', () => ['-v=loud'], /Give a whole number, 0 or more\./],
  ]
  it('does not load the fetch of Node', async () => {
    const printed =
      'data:text/javascript,process.on("exit", () => console.log(process.moduleLoadList.join()))'
    const args = ['--import', printed, compiled, 'virtual-workspaces', '--kubeconfig', file('none')]
    const { stdout } = await run(process.execPath, args)
    assert.match(stdout, /NativeModule tls/)
    assert.doesNotMatch(stdout, /undici/)
  })

  for (const [what, args, sentence] of table)
    it(`reports in one sentence what to change: ${what}`, async () => {
      const { code, stderr } = await run(process.execPath, [compiled, 'virtual-workspaces', ...args()])
      assert.equal(code, 1)
      assert.match(stderr, sentence)
    })
})
