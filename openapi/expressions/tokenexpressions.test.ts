import assert from 'node:assert/strict'
import { tokenExpressions } from './tokenexpressions.ts'

const claims = {
  sub: 'bob',
  email: 'bob@example.com',
  email_verified: true,
  age: 42,
  roles: ['admin', 'dev'],
  'kubernetes.io': { namespace: 'ns', 'a-b': ['x'] },
}
const user = { username: 'oidc:bob', uid: '', groups: ['devs'], extra: { 'example.org/a': ['1'] } }

describe('expressions about tokens', () => {
  for (const [source, value] of [
    ['"oidc:" + claims.sub', 'oidc:bob'],
    ['claims.roles', ['admin', 'dev']],
    ['claims.roles.map(r, "x:" + r)', ['x:admin', 'x:dev']],
    ['claims.roles.exists(r, r == "admin")', true],
    ['has(claims.nickname) ? claims.nickname : "none"', 'none'],
    ['claims.?nickname.orValue("")', ''],
    ['claims.email_verified == true && claims.age > 18', true],
    ['claims.kubernetes__dot__io.namespace + claims["kubernetes.io"].a__dash__b[0]', 'nsx'],
  ] as const)
    it(`evaluates ${source}`, () =>
      assert.deepEqual(tokenExpressions.compile(source, 'claims').evaluate(claims), value))

  it('reads the user', () => {
    const rule = tokenExpressions.compile(
      "!user.username.startsWith('system:') && user.groups.all(g, !g.startsWith('system:')) && user.extra['example.org/a'] == ['1']",
      'user',
    )
    assert.equal(rule.evaluate(user), true)
    assert.equal(rule.evaluate({ ...user, groups: ['system:masters'] }), false)
    assert.throws(() => tokenExpressions.compile('user.name', 'user'), /undefined field 'name'/)
  })

  it('reports why it does not compile or has no value', () => {
    assert.throws(() => tokenExpressions.compile('claims.', 'claims'), /compilation failed: .*Syntax error/s)
    assert.throws(() => tokenExpressions.compile('user.username', 'claims'), /undeclared reference to 'user'/)
    assert.throws(() => tokenExpressions.compile('claims.none', 'claims').evaluate(claims), /no such key/)
  })

  it('aborts expressions that exceed the cost limit', () => {
    const many = { list: Array.from({ length: 400 }, (_, i) => i) }
    const source = 'claims.list.all(a, claims.list.all(b, claims.list.all(c, a + b + c >= 0.0)))'
    assert.throws(() => tokenExpressions.compile(source, 'claims').evaluate(many), /cost limit exceeded/)
  })

  it('lists the claims that it reads', () => {
    const reads = (source: string) => tokenExpressions.compile(source, 'claims').reads('email')
    for (const source of [
      'claims.email',
      'claims.?email.orValue("")',
      '[claims.email].exists(a, a == "")',
      'has(claims.email)',
    ])
      assert.equal(reads(source), true, source)
    for (const source of ['claims.email_verified', '"claims.email"', 'claims.sub.email'])
      assert.equal(reads(source), false, source)
  })
})
