import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  base36,
  defaultBindingName,
  hash224,
  homeClusterName,
  homePath,
  identityHash,
  newIdentityKey,
  paddedBase36,
  resolveHome,
  shardHash,
  workspaceClusterName,
} from './names.ts'

const encodings: Record<string, [actual: string, expected: string]> = {
  'padded base36 of "hello"': [
    paddedBase36(hash224('hello')),
    '2yfg0ibsewngbzapgs5fesiord507vsncfiw4jd5c2oj',
  ],
  'padded base36 with a leading zero byte': [
    paddedBase36(Buffer.from('00c650b1ad5a99c3', 'hex')),
    '0f9mt7goyif7',
  ],
  'base36 of ff': [base36(Buffer.from([0xff])), '73'],
}

const clusters: Record<string, [actual: string, expected: string]> = {
  alice: [homeClusterName('alice'), 'v1u4alow0iv9'],
  bob: [homeClusterName('bob'), '2okdry95y5lkv'],
  'user:with:colons': [homeClusterName('user:with:colons'), '2bqfj6xlthg3t'],
  user172: [homeClusterName('user172'), '0f9mt7goyif7'],
  'user-with-dash': [homeClusterName('user-with-dash'), '1e25681jymk1l'],
  'no user name': [homeClusterName(''), '36ks9xj4a2n61'],
  'shard root': [shardHash('root'), '1pfxsevk'],
  'shard shard-1': [shardHash('shard-1'), '2e1tfbst'],
}

describe('names', () => {
  for (const [name, [actual, expected]] of Object.entries({ ...encodings, ...clusters })) {
    it(name, () => assert.equal(actual, expected))
  }
  it('give no user a home with the path of a workspace in the home of another', () => {
    assert.equal(homePath('alice'), 'user:alice')
    const text = fc.constantFrom('alice', 'team', ':', 'https://issuer#', '@', '', 'A', '-')
    const user = fc.array(text).map(parts => parts.join(''))
    fc.assert(
      fc.property(user, user, (one, other) => {
        assert.equal(resolveHome(homePath(one)), homeClusterName(one))
        if (one !== other) assert.ok(!homePath(other).startsWith(`${homePath(one)}:`), `${one} ${other}`)
        if (one !== other) assert.notEqual(homePath(one), homePath(other))
      }),
    )
  })
  it('names default bindings by cluster and export', () => {
    const cluster = '2hx8kq0p4z7vw1a9'
    assert.equal(defaultBindingName(cluster, 'root', 'tenancy.kcp.io'), 'tenancy.kcp.io-503gg')
    assert.equal(defaultBindingName(cluster, 'root', 'topology.kcp.io'), 'topology.kcp.io-6v4sm')
    assert.equal(defaultBindingName('v1u4alow0iv9', 'root', 'tenancy.kcp.io'), 'tenancy.kcp.io-3mnto')
  })
  it('cuts long export names to 247 characters', () =>
    assert.equal(defaultBindingName('root', 'root', 'x'.repeat(253)).length, 253))
  it('hashes identity keys as text', () =>
    assert.equal(
      identityHash('0123456789abcdef'),
      '9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f',
    ))
  it('makes identity keys of 43 characters', () => assert.match(newIdentityKey(), /^[\w-]{43}$/))
  it('draws cluster names of 16 characters', () => assert.match(workspaceClusterName(), /^[0-9a-z]{16}$/))
})
