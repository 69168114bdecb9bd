import assert from 'node:assert/strict'
import { KubeconfigError, operatorPolicy, parseKubeconfig, tenantPolicy, userToken } from './kubeconfig.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const pem = (what: string): string => `-----BEGIN ${what}-----\nAA==\n-----END ${what}-----\n`

type Fields = Readonly<Record<string, unknown>>

const kubeconfig = (cluster: Fields = {}, user: Fields = {}, more: Fields = {}): string =>
  JSON.stringify({
    'current-context': 'here',
    contexts: [
      { name: 'here', context: { cluster: 'server', user: 'admin' } },
      { name: 'there', context: { cluster: 'other' } },
    ],
    clusters: [
      { name: 'server', cluster: { server: 'https://server:6443/clusters/root/', ...cluster } },
      { name: 'other', cluster: { server: 'https://other' } },
    ],
    users: [{ name: 'admin', user }],
    ...more,
  })

const messageOf = (read: () => unknown): string => {
  try {
    read()
  } catch (error) {
    assert.ok(error instanceof KubeconfigError, String(error))
    return error.message
  }
  return assert.fail('the kubeconfig was accepted')
}

const policies = { tenant: tenantPolicy, operator: operatorPolicy }

for (const [name, policy] of Object.entries(policies))
  describe(`a kubeconfig by the policy of the ${name}`, () => {
    const read = (text: string, context?: string) => parseKubeconfig(text, policy, context)

    it('has a server, authorities and credentials inline', () => {
      const text = kubeconfig(
        { 'certificate-authority-data': base64(pem('CERTIFICATE')) },
        {
          'client-certificate-data': base64(pem('CERTIFICATE')),
          'client-key-data': base64(pem('PRIVATE KEY')),
          token: 'secret',
        },
      )
      assert.deepEqual(read(text), {
        access: {
          server: 'https://server:6443/clusters/root',
          ca: pem('CERTIFICATE'),
          cert: pem('CERTIFICATE'),
          key: pem('PRIVATE KEY'),
          token: 'secret',
        },
        files: {},
      })
    })

    it('has a user name and a password', () => {
      const { access } = read(kubeconfig({}, { username: 'jane', password: 'x' }))
      assert.deepEqual(access.basic, { username: 'jane', password: 'x' })
      assert.equal(read(kubeconfig({}, { username: 'jane', token: 'x' })).access.basic, undefined)
    })

    it('is read in its current context or in another one', () => {
      assert.equal(read(kubeconfig(), 'there').access.server, 'https://other')
      assert.equal(read(kubeconfig({}, {}, { 'current-context': 'there' })).access.server, 'https://other')
    })

    it('ignores null, false and empty fields', () => {
      const cluster = { 'insecure-skip-tls-verify': false, 'certificate-authority': '', 'proxy-url': null }
      const { access, files } = read(kubeconfig(cluster, { exec: null, tokenFile: '', 'as-groups': null }))
      assert.deepEqual([access, files], [{ server: 'https://server:6443/clusters/root' }, {}])
    })

    const broken: readonly (readonly [what: string, text: string, message: RegExp])[] = [
      ['not YAML', '[', /^is not YAML$/],
      ['a text', 'nothing in particular', /^is not a kubeconfig$/],
      ['a list', '[]', /^is not a kubeconfig$/],
      ['empty', '', /^is not a kubeconfig$/],
      ['two documents', 'a: 1\n---\nb: 1\n', /^is not YAML$/],
      ['no current context', kubeconfig({}, {}, { 'current-context': '' }), /^has no current context/],
      ['an unknown context', kubeconfig({}, {}, { 'current-context': 'x' }), /^has no context "x"/],
      ['no clusters', kubeconfig({}, {}, { clusters: null }), /^has no cluster "server"$/],
      ['no users', kubeconfig({}, {}, { users: {} }), /^has no user "admin"$/],
      ['null entries', kubeconfig({}, {}, { clusters: [null] }), /^has no cluster "server"$/],
      ['no server', kubeconfig({ server: '' }), /^has no server for the context "here"$/],
      ...['localhost:6443', '10.0.0.1:6443', 'localhost', 'ftp://server', 'https://', 'https:server'].map(
        server =>
          [
            `the server ${server}`,
            kubeconfig({ server }),
            /^has no absolute URL as server for the context "here": set one such as https:\/\/host:6443$/,
          ] as const,
      ),
      ['a server that is an object', kubeconfig({ server: {} }), /^has no server for the context "here"$/],
      [
        'data that is not PEM',
        kubeconfig({ 'certificate-authority-data': base64('x') }),
        /^has a certificate-authority-data that is not PEM in base64$/,
      ],
      [
        'data that is a number',
        kubeconfig({}, { 'client-key-data': 5 }),
        /^has a client-key-data that is not PEM in base64$/,
      ],
    ]
    for (const [what, text, message] of broken)
      it(`is refused: ${what}`, () =>
        assert.match(
          messageOf(() => read(text)),
          message,
        ))

    const refused: readonly (readonly [string, Fields, Fields])[] = [
      ['proxy-url', { 'proxy-url': 'http://127.0.0.1:3128' }, {}],
      ['tls-server-name', { 'tls-server-name': 'other' }, {}],
      ['exec', {}, { exec: { command: 'sh', args: ['-c', 'id'] } }],
      ['auth-provider', {}, { 'auth-provider': { name: 'gcp' } }],
      ['as', {}, { as: 'system:admin' }],
      ['as-groups', {}, { 'as-groups': ['system:masters'] }],
      ['as-uid', {}, { 'as-uid': '1' }],
      ['as-user-extra', {}, { 'as-user-extra': { a: ['b'] } }],
    ]
    for (const [field, cluster, user] of refused)
      it(`is refused when it sets ${field}`, () =>
        assert.match(
          messageOf(() => read(kubeconfig(cluster, user))),
          new RegExp(`^must not set ${field}: \\w.*\\w$`),
        ))
  })

describe('the kubeconfig of a tenant', () => {
  const read = (text: string) => parseKubeconfig(text, tenantPolicy)

  const refused: readonly (readonly [field: string, instead: string, Fields, Fields])[] = [
    ['certificate-authority', 'certificate-authority-data', { 'certificate-authority': '/etc/passwd' }, {}],
    ['insecure-skip-tls-verify', 'certificate-authority-data', { 'insecure-skip-tls-verify': true }, {}],
    ['client-certificate', 'client-certificate-data', {}, { 'client-certificate': '../admin.crt' }],
    ['client-key', 'client-key-data', {}, { 'client-key': 'admin.key' }],
    ['tokenFile', 'token', {}, { tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' }],
  ]
  for (const [field, instead, cluster, user] of refused) {
    it(`must not set ${field}`, () =>
      assert.equal(
        messageOf(() => read(kubeconfig(cluster, user))),
        `must not set ${field}: set ${instead} instead`,
      ))

    it(`must not set ${field} beside inline data, nor in another form than text`, () => {
      const inline = { [`${field}-data`]: base64(pem('CERTIFICATE')), token: 'x' }
      const isOfCluster = Object.keys(cluster).length > 0
      for (const value of [
        Object.values({ ...cluster, ...user })[0],
        ['/etc/passwd'],
        { a: 1 },
        1,
        'false',
      ]) {
        const [a, b] = isOfCluster ? [{ [field]: value, ...inline }, {}] : [{}, { [field]: value, ...inline }]
        assert.match(
          messageOf(() => read(kubeconfig(a, b))),
          new RegExp(`^must not set ${field}`),
        )
      }
    })
  }

  it('cannot hide a field behind an alias, a merge key, a repetition or __proto__', () => {
    const head = 'current-context: c\ncontexts: [{name: c, context: {cluster: s, user: u}}]\n'
    const users = 'users: [{name: u, user: {}}]\n'
    const hidden = [
      `${head}x: &x {server: "https://a", certificate-authority: /etc/passwd}\nclusters: [{name: s, cluster: *x}]\n${users}`,
      `${head}x: &x {certificate-authority: /etc/passwd}\nclusters: [{name: s, cluster: {server: "https://a", <<: *x}}]\n${users}`,
      `${head}clusters: [{name: s, cluster: {server: "https://a", certificate-authority: "", certificate-authority: /etc/passwd}}]\n${users}`,
      `${head}clusters: [{name: s, cluster: {server: "https://a"}}, {name: s, cluster: {server: "https://b"}}]\nusers: [{name: u, user: {tokenFile: /etc/passwd}}]\n`,
      `${head}clusters: [{name: s, cluster: {server: "https://a", "certificate\\x2dauthority": /etc/passwd}}]\n${users}`,
    ]
    for (const text of hidden)
      assert.match(
        messageOf(() => read(text)),
        /^must not set /,
      )
    const proto = `${head}clusters: [{name: s, cluster: {server: "https://a", __proto__: {certificate-authority: /etc/passwd}}}]\n${users}`
    assert.deepEqual(read(proto), { access: { server: 'https://a' }, files: {} })
  })

  it('is not quoted beyond the names that it refers to', () => {
    const text = kubeconfig({}, { token: 'secret' }, { 'current-context': 'missing' })
    assert.equal(
      messageOf(() => read(text)),
      'has no context "missing"',
    )
  })
})

describe('the kubeconfig of an operator', () => {
  const read = (text: string, context?: string) => parseKubeconfig(text, operatorPolicy, context)

  it('may name files, of which inline data takes the place', () => {
    const cluster = { 'certificate-authority': 'ca.crt' }
    const user = { 'client-certificate': 'a.crt', 'client-key': '/a.key', tokenFile: 'token' }
    assert.deepEqual(read(kubeconfig(cluster, user)), {
      access: { server: 'https://server:6443/clusters/root' },
      files: { ca: 'ca.crt', cert: 'a.crt', key: '/a.key', token: 'token' },
    })
    const inline = { 'certificate-authority-data': base64(pem('CERTIFICATE')) }
    const both = read(kubeconfig({ ...cluster, ...inline }, { tokenFile: 'token', token: 'x' }))
    assert.deepEqual(both.files, {})
    assert.equal(both.access.token, 'x')
  })

  it('may skip the verification of the server', () => {
    assert.equal(read(kubeconfig({ 'insecure-skip-tls-verify': true })).access.insecure, true)
  })

  it('lists the contexts', () => {
    assert.equal(
      messageOf(() => read(kubeconfig(), 'root')),
      'has no context "root": it has "here", "there"',
    )
  })
})

describe('the token of a user in a kubeconfig', () => {
  it('is found by the name of the user', () => {
    const text = kubeconfig({}, { token: 'x' })
    assert.deepEqual([userToken(text, 'admin'), userToken(text, 'nobody')], ['x', undefined])
  })
})
