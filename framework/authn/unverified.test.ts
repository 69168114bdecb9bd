import assert from 'node:assert/strict'
import { unverifiedClaims } from './jwt.ts'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('the claims of a token that is not verified', () => {
  it('are those of a JSON web token in compact form', () => {
    assert.deepEqual(unverifiedClaims(`x.${encode({ iss: 'a' })}.y`), { iss: 'a' })
    for (const token of ['', 'x', 'x.y', `x.${encode([1])}.y`, `x.${encode({})}.y.z`, 'x.{.y'])
      assert.equal(unverifiedClaims(token), undefined, token)
  })

  it('are not read of a token that no request can have', () => {
    const claims = (length: number) => unverifiedClaims(`x.${encode({ iss: 'a'.repeat(length) })}.y`)
    assert.ok(claims(40_000))
    assert.equal(claims(50_000), undefined)
    assert.equal(unverifiedClaims('.'.repeat(3_000_000)), undefined)
  })
})
