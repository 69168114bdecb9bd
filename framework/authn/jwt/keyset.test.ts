import assert from 'node:assert/strict'
import { publicKeysIn } from './keyset.ts'

const rsa = { kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'a', alg: 'RS256', use: 'sig' }
const ec = { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }
const many = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `operation ${i}`)

describe('the public keys of an issuer', () => {
  it('have the members that verification reads', () => {
    const more = { x5c: many(3), x5t: 'x', extra: { a: 1 } }
    const keys = [
      { ...rsa, ...more },
      { ...ec, ...more, key_ops: ['verify', 'x'] },
    ]
    assert.deepEqual(publicKeysIn({ keys }), [rsa, { ...ec, key_ops: ['verify'] }])
  })

  it('are none that are private, of other types, or no keys', () => {
    const others = [
      { ...rsa, d: 'AA' },
      { kty: 'oct', k: 'AA' },
      { kty: 'OKP', crv: 'Ed25519', x: 'AA' },
      7,
      null,
    ]
    assert.deepEqual(publicKeysIn({ keys: [...others, ec] }), [ec])
  })

  it('have few operations and short members', () => {
    const long = (length: number): string => 'A'.repeat(length)
    for (const unusable of [
      { key_ops: many(130_000) },
      { key_ops: 'verify' },
      { key_ops: [7] },
      { n: long(1_367) },
      { e: long(12) },
      { kid: long(513) },
      { alg: 7 },
    ])
      assert.deepEqual(publicKeysIn({ keys: [{ ...rsa, ...unusable }] }), [])
    assert.equal(publicKeysIn({ keys: [{ ...rsa, n: long(1_366), kid: long(512) }] }).length, 1)
  })

  it('are a hundred at most, in a list', () => {
    assert.equal(publicKeysIn({ keys: many(100).map(kid => ({ ...rsa, kid })) }).length, 100)
    assert.throws(() => publicKeysIn({ keys: many(101) }), /has 101 keys, at most 100 are allowed/)
    for (const document of [undefined, [], { keys: 'x' }, {}])
      assert.throws(() => publicKeysIn(document), /malformed/)
  })
})
