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

const evaluate = (
  source: string,
  about: object = claims,
  budget = tokenExpressions.newBudget(),
): Promise<unknown> => tokenExpressions.compile(source, 'claims').evaluate(about, budget)

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
    it(`evaluates ${source}`, async () => assert.deepEqual(await evaluate(source), value))

  it('reads the user', async () => {
    const rule = tokenExpressions.compile(
      "!user.username.startsWith('system:') && user.groups.all(g, !g.startsWith('system:')) && user.extra['example.org/a'] == ['1']",
      'user',
    )
    const holds = (about: object) => rule.evaluate(about, tokenExpressions.newBudget())
    assert.equal(await holds(user), true)
    assert.equal(await holds({ ...user, groups: ['system:masters'] }), false)
    assert.throws(() => tokenExpressions.compile('user.name', 'user'), /undefined field 'name'/)
  })

  it('reports why it does not compile or has no value', async () => {
    assert.throws(() => tokenExpressions.compile('claims.', 'claims'), /compilation failed: .*Syntax error/s)
    assert.throws(() => tokenExpressions.compile('user.username', 'claims'), /undeclared reference to 'user'/)
    await assert.rejects(evaluate('claims.none'), /no such key/)
  })

  it('aborts expressions that exceed the cost limit', async () => {
    const many = { list: Array.from({ length: 400 }, (_, i) => i) }
    const source = 'claims.list.all(a, claims.list.all(b, claims.list.all(c, a + b + c >= 0.0)))'
    await assert.rejects(evaluate(source, many), /cost limit exceeded/)
  })

  it('aborts those of one token together, and other work has its turns between them', async () => {
    const many = { list: Array.from({ length: 40 }, (_, i) => i) }
    const source = 'claims.list.all(a, claims.list.all(b, claims.list.all(c, a + b + c >= 0.0)))'
    const budget = tokenExpressions.newBudget()
    let turns = 0
    const counting = setInterval(() => turns++, 0)
    let evaluated = 0
    await assert.rejects(async () => {
      for (; evaluated < 100; evaluated++) await evaluate(source, many, budget)
    }, /cost limit exceeded/)
    clearInterval(counting)
    assert.ok(evaluated > 1 && evaluated < 20, `${evaluated} evaluations`)
    assert.ok(turns > 1, `${turns} turns`)
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
