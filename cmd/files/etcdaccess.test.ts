import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { issueAuthority } from '../certificates/certificates.ts'
import { etcdAccess, isEtcd } from './etcdaccess.ts'

describe('the address of an etcd', () => {
  it('is one of three schemes', () => {
    for (const where of ['etcd://a:1', 'https://a:1', 'http://a:1']) assert.equal(isEtcd(where), true, where)
    for (const where of ['memory:', 'etcd', './https', '/var/lib/oriel'])
      assert.equal(isEtcd(where), false, where)
  })

  for (const [where, endpoints] of [
    ['etcd://10.0.0.1:2379,10.0.0.2:2379', ['10.0.0.1:2379', '10.0.0.2:2379']],
    ['http://a.example:2379,http://b.example:2379/', ['a.example:2379', 'b.example:2379']],
    ['etcd://[::1]:2379', ['[::1]:2379']],
  ] as const)
    it(`names the members: ${where}`, async () => {
      assert.deepEqual((await etcdAccess(where, {})).endpoints, endpoints)
    })

  it('with https uses TLS', async () => {
    const { endpoints, credentials } = await etcdAccess('https://a:2379', {})
    assert.deepEqual([endpoints, credentials?.()], [['a:2379'], { tls: {} }])
  })

  for (const where of [
    'etcd://',
    'etcd://a',
    'etcd://a:1,',
    'etcd://a:1/path',
    'etcd://user@a:1',
    'http://a:1,https://b:1',
  ])
    it(`is refused: ${where}`, async () => {
      await assert.rejects(etcdAccess(where, {}), /is not an address of etcd: give host:port, such as/)
    })

  it('has certificates that are checked', async () => {
    const folder = await temporaryDirectory('etcd-flags')
    const file = async (name: string, text: string): Promise<string> => {
      await writeFile(join(folder, name), text)
      return join(folder, name)
    }
    const { certificate, key } = issueAuthority()
    const [cert, pem, other] = [await file('c', certificate), await file('k', key), await file('o', 'text')]
    const flags = { etcdCafile: cert, etcdCertfile: cert, etcdKeyfile: pem }
    const { credentials } = await etcdAccess('etcd://a:1', flags)
    assert.deepEqual(Object.keys(credentials?.().tls ?? {}), ['ca', 'certificate', 'key'])
    const refused = async (given: object, message: RegExp, where = 'etcd://a:1') =>
      assert.rejects(etcdAccess(where, given), message)
    await refused(flags, /--store has the scheme http, but .* use https/, 'http://a:1')
    await refused({ etcdCafile: other }, /--etcd-cafile .* is not valid PEM for this flag/)
    await refused({ ...flags, etcdKeyfile: other }, /--etcd-keyfile .* is not valid PEM/)
    const foreign = await file('f', issueAuthority().key)
    await refused(
      { ...flags, etcdKeyfile: foreign },
      /--etcd-certfile .* and --etcd-keyfile .* cannot be used together/,
    )
    await refused({ etcdCafile: join(folder, 'absent') }, /--etcd-cafile .* cannot be read \(ENOENT\)/)
  })

  it('has a user with a password', async () => {
    const file = join(await temporaryDirectory('etcd-password'), 'password')
    await writeFile(file, 'secret\n')
    const { credentials } = await etcdAccess('etcd://a:1', { etcdUser: 'oriel', etcdPasswordFile: file })
    assert.deepEqual(credentials?.().user, { name: 'oriel', password: 'secret' })
  })
})
