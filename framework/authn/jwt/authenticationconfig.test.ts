import assert from 'node:assert/strict'
import { readAuthenticationConfig } from './authenticationconfig.ts'
import type { ExpressionCompiler } from './config.ts'
import type { JwtIssuer } from './jwttokens.ts'

const none: ExpressionCompiler = {
  compile: () => {
    throw new Error('expressions are not supported')
  },
  newBudget: () => ({ cost: 0, effort: { left: 0 } }),
}

describe('an AuthenticationConfiguration', () => {
  const head = 'apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\n'
  const read = (jwt: unknown, text = head): readonly JwtIssuer[] =>
    readAuthenticationConfig(`${text}jwt: ${JSON.stringify(jwt)}`, {
      compiler: none,
      forbidden: ['https://kcp.default.svc'],
    }).issuers
  const good = {
    issuer: { url: 'https://idp.example.com', audiences: ['a'] },
    claimMappings: { username: { claim: 'sub', prefix: '' } },
  }

  it('has several issuers, each once', () => {
    const other = { ...good, issuer: { ...good.issuer, url: 'https://other.example.com' } }
    assert.deepEqual(
      read([good, other]).map(({ url }) => url),
      ['https://idp.example.com', 'https://other.example.com'],
    )
    assert.throws(
      () => read([good, good]),
      /jwt\[1\].issuer.url: Duplicate value: "https:\/\/idp.example.com"/,
    )
    assert.throws(() => read(Array.from({ length: 65 }, () => good)), /Too many/)
  })

  for (const [what, issuer, problem] of [
    ['plain HTTP', { url: 'http://a', audiences: ['a'] }, 'URL scheme must be https'],
    ['a password', { url: 'https://a:b@c', audiences: ['a'] }, 'URL must not contain a username or password'],
    ['a query', { url: 'https://c?a', audiences: ['a'] }, 'URL must not contain a query'],
    ['a fragment', { url: 'https://c#a', audiences: ['a'] }, 'URL must not contain a fragment'],
    ['no URL', { audiences: ['a'] }, 'jwt\\[0\\].issuer.url: Required value'],
    [
      'itself',
      { url: 'https://kcp.default.svc', audiences: ['a'] },
      'must not overlap with disallowed issuers',
    ],
    [
      'the URL as discovery URL',
      { url: 'https://a', discoveryURL: 'https://a/', audiences: ['a'] },
      'must be different from URL',
    ],
    ['no audience', { url: 'https://a' }, 'at least one jwt\\[0\\].issuer.audiences is required'],
    [
      'two audiences of one',
      { url: 'https://a', audiences: ['a', 'b'] },
      'must be MatchAny for multiple audiences',
    ],
    [
      'no certificate',
      { url: 'https://a', audiences: ['a'], certificateAuthority: 'x' },
      'Invalid value: "<omitted>"',
    ],
    [
      'authorities of many certificates',
      {
        url: 'https://a',
        audiences: ['a'],
        certificateAuthority: '-----BEGIN CERTIFICATE-----'.repeat(151),
      },
      'must have at most 150 certificates, but has 151',
    ],
  ] as const)
    it(`refuses ${what}`, () => assert.throws(() => read([{ ...good, issuer }]), new RegExp(problem)))

  for (const [what, more, problem] of [
    [
      'no username',
      { claimMappings: { username: {} } },
      'username: Required value: claim or expression is required',
    ],
    [
      'no prefix',
      { claimMappings: { username: { claim: 'a' } } },
      'username.prefix: Required value: prefix is required',
    ],
    [
      'both',
      { claimMappings: { username: { claim: 'a', expression: 'b' } } },
      "claim and expression can't both be set",
    ],
    [
      'an expression that cannot be',
      { claimMappings: { username: { expression: 'b' } } },
      'username.expression: Invalid value: "b": expressions are not supported',
    ],
    [
      'a key of Kubernetes',
      { claimMappings: { ...good.claimMappings, extra: [{ key: 'k8s.io/a', valueExpression: 'b' }] } },
      'reserved for Kubernetes use',
    ],
    [
      'a key without a domain',
      { claimMappings: { ...good.claimMappings, extra: [{ key: 'a', valueExpression: 'b' }] } },
      'must be a domain-prefixed path',
    ],
    [
      'an empty rule',
      { claimValidationRules: [{}] },
      'claimValidationRules\\[0\\]: Required value: claim or expression is required',
    ],
    ['a misspelled field', { claimMapping: {} }, 'unknown field "jwt\\[0\\].claimMapping"'],
    ['a list for a text', { issuer: { url: ['a'] } }, 'jwt\\[0\\].issuer.url: not a string'],
  ] as const)
    it(`refuses ${what}`, () => assert.throws(() => read([{ ...good, ...more }]), new RegExp(problem)))

  it('configures anonymous requests', () => {
    const anonymous = (value: unknown) =>
      readAuthenticationConfig(`${head}anonymous: ${JSON.stringify(value)}`, {
        compiler: none,
        forbidden: [],
      }).anonymous
    assert.equal(anonymous(null), undefined)
    assert.deepEqual(anonymous({ enabled: false }), { enabled: false })
    assert.deepEqual(anonymous({}), { enabled: false })
    const conditions = [{ path: '/livez' }, { path: '/readyz' }]
    assert.deepEqual(anonymous({ enabled: true, conditions }), { enabled: true, conditions })
    for (const [value, why] of [
      [{ enabled: false, conditions }, /enabled should be set to true when conditions are defined/],
      [{ enabled: true, conditions: [{}] }, /anonymous.conditions\[0\].path: Invalid value/],
      [{ enabled: 'yes' }, /anonymous.enabled: not a boolean/],
      [{ enabled: true, paths: [] }, /unknown field "anonymous.paths"/],
    ] as const)
      assert.throws(() => anonymous(value), why)
  })

  it('refuses other kinds', () => {
    assert.throws(
      () => read([good], 'apiVersion: v1\nkind: Config\n'),
      /expected an AuthenticationConfiguration/,
    )
    assert.throws(() => read({ a: 1 }), /jwt: not a list/)
  })
})
