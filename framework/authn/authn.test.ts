import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, request, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { issueAuthority, issueServing, type KeyPair } from '../../cmd/certificates/certificates.ts'
import { issueClient } from '../../test/support/clientcertificates.ts'
import { promised } from '../async/awaitable.ts'
import type { Authenticator } from '../request/authenticator.ts'
import type { UserInfo } from '../request/user.ts'
import { bearerTokens, clientCertificates, requestHeaders, tokenFile, union } from './index.ts'

const csv = `alice-token,alice,1001,"devs,ops"\n\nbob-token,bob,1002\n`

/**
 * A TLS server that responds with the authenticated user; certificates of both authorities are accepted, others ignored.
 */
async function listen(authenticator: () => Authenticator, tls: object): Promise<Server> {
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false }, (req, res) => {
    const socket = req.socket as TLSSocket
    const certificate = socket.authorized ? { certificate: socket.getPeerCertificate() } : {}
    promised(() =>
      authenticator().authenticate({ headers: req.headers, rawHeaders: req.rawHeaders, ...certificate }),
    )
      .then(user => res.end(JSON.stringify(user ?? null)))
      .catch(error => res.writeHead(error.code ?? 500).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

describe('authentication over TLS', () => {
  let users: KeyPair
  let proxies: KeyPair
  let serving: KeyPair
  let server: Server
  let authenticator: Authenticator

  before(async () => {
    users = issueAuthority()
    proxies = issueAuthority()
    serving = issueServing(users, ['localhost', '127.0.0.1'])
    const otherwise = union(clientCertificates({ ca: users.certificate }), bearerTokens(tokenFile(csv)))
    authenticator = requestHeaders({ ca: proxies.certificate, allowedNames: ['front-proxy'], otherwise })
    server = await listen(() => authenticator, {
      cert: serving.certificate,
      key: serving.key,
      ca: [users.certificate, proxies.certificate],
    })
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  /** The user that the server authenticates, null for anonymous, or a status code. */
  async function ask(headers: string[], client?: KeyPair): Promise<UserInfo | null | number> {
    const { port } = server.address() as AddressInfo
    const identity = client === undefined ? {} : { cert: client.certificate, key: client.key }
    const outgoing = request({
      host: '127.0.0.1',
      port,
      ca: users.certificate,
      agent: false,
      ...identity,
      headers,
    })
    outgoing.end()
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    const body = Buffer.concat(await response.toArray()).toString()
    return response.statusCode === 200 ? JSON.parse(body) : (response.statusCode ?? 0)
  }
  const bearer = (token: string): string[] => ['Host', 'x', 'Authorization', `Bearer ${token}`]

  it('reads user and groups from a certificate', async () => {
    const client = await issueClient(users, { subject: 'CN=carol, O=devs, O=ops' })
    const user = await ask(['Host', 'x'], client)
    assert.ok(typeof user === 'object' && user !== null)
    assert.deepEqual([user.name, user.groups], ['carol', ['devs', 'ops', 'system:authenticated']])
    assert.match(
      user.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '',
      /^X509SHA256=[0-9a-f]{64}$/,
    )
  })

  it('reads the UID from a certificate that has one', async () => {
    const client = await issueClient(users, { subject: 'CN=carol, 1.3.6.1.4.1.57683.2=id-1' })
    const user = await ask(['Host', 'x'], client)
    assert.equal((user as UserInfo).uid, 'id-1')
  })

  it('ignores the certificate of a browser in a request that a page of another origin has caused', async () => {
    const client = await issueClient(users, { subject: 'CN=carol' })
    const nameBy = async (...headers: string[]): Promise<string | undefined> => {
      const user = await ask(['Host', 'x', ...headers], client)
      return user === null ? undefined : (user as UserInfo).name
    }
    for (const site of ['cross-site', 'same-site', 'unknown'])
      assert.equal(await nameBy('Sec-Fetch-Site', site), undefined, site)
    for (const origin of ['https://evil.example', 'null', 'http://x', 'https://x:8443'])
      assert.equal(await nameBy('Origin', origin), undefined, origin)
    for (const site of ['same-origin', 'none'])
      assert.equal(await nameBy('Sec-Fetch-Site', site), 'carol', site)
    assert.equal(await nameBy('Origin', 'https://x'), 'carol')
    const token = await ask([...bearer('alice-token'), 'Sec-Fetch-Site', 'cross-site'], client)
    assert.equal((token as UserInfo).name, 'alice')
  })

  it('refuses certificates without a common name or with two UIDs', async () => {
    for (const subject of ['O=devs', 'CN=carol, 1.3.6.1.4.1.57683.2=id-1, 1.3.6.1.4.1.57683.2=id-2'])
      assert.equal(await ask(['Host', 'x'], await issueClient(users, { subject })), 401)
  })

  it('ignores expired certificates, serving certificates and those of other authorities', async () => {
    const otherAuthority = issueAuthority()
    for (const client of [
      await issueClient(users, { subject: 'CN=a', hours: -1 }),
      await issueClient(users, { subject: 'CN=a', serverOnly: true }),
      await issueClient(otherAuthority, { subject: 'CN=a, O=system:masters' }),
    ])
      assert.equal(await ask(['Host', 'x'], client), null)
  })

  it('reads tokens, in any case of the scheme', async () => {
    const expected = { name: 'alice', groups: ['devs', 'ops', 'system:authenticated'], uid: '1001' }
    assert.deepEqual(await ask(bearer('alice-token')), expected)
    assert.deepEqual(await ask(['Host', 'x', 'authorization', 'bEARER  alice-token']), expected)
  })

  it('finds no user without credentials', async () => assert.equal(await ask(['Host', 'x']), null))

  for (const [what, line] of [
    ['an unknown token', 'Bearer nope'],
    ['a token with more behind it', 'Bearer alice-token x'],
    ['a tab', 'Bearer\talice-token'],
    ['no token', 'Bearer'],
    ['another scheme', 'Basic YWxpY2U6eA=='],
    ['an empty header', ''],
  ] as const)
    it(`refuses ${what}`, async () => assert.equal(await ask(['Host', 'x', 'Authorization', line]), 401))

  it('refuses two Authorization headers', async () => {
    assert.equal(await ask([...bearer('alice-token'), 'authorization', 'Bearer bob-token']), 401)
  })

  describe('tokens among the protocols of a WebSocket', () => {
    const prefix = 'base64url.bearer.authorization.k8s.io.'
    const encoded = (token: string): string => prefix + Buffer.from(token).toString('base64url')
    const upgrade = ['Host', 'x', 'Connection', 'Upgrade', 'Upgrade', 'WebSocket']
    const offering = (...lines: string[]) =>
      ask([...upgrade, ...lines.flatMap(line => ['Sec-WebSocket-Protocol', line])])

    it('are read, in one line or in several', async () => {
      for (const lines of [
        [`v4.channel.k8s.io, ${encoded('alice-token')}`],
        [encoded('alice-token'), 'v4.channel.k8s.io'],
      ])
        assert.equal(((await offering(...lines)) as UserInfo).name, 'alice')
    })

    for (const [what, ...lines] of [
      ['an unknown token', `a, ${encoded('nope')}`],
      ['no other protocol', encoded('alice-token')],
      ['two tokens', `a, ${encoded('alice-token')}, ${encoded('alice-token')}`],
      ['no token', `a, ${prefix}`],
      ['another encoding', `a, ${prefix}YWxpY2UtdG9rZW4=`],
      ['what is no text', `a, ${prefix}_w`],
    ] as const)
      it(`refuse ${what}`, async () => assert.equal(await offering(...lines), 401))

    it('do not apply to other requests', async () => {
      const protocol = ['Sec-WebSocket-Protocol', `a, ${encoded('alice-token')}`]
      assert.equal(await ask(['Host', 'x', ...protocol]), null)
      assert.equal(await ask([...upgrade, 'Sec-WebSocket-Protocol', 'v4.channel.k8s.io']), null)
    })
  })

  it('refuses a bad token beside a good certificate', async () => {
    const client = await issueClient(users, { subject: 'CN=carol' })
    assert.equal(await ask(bearer('nope'), client), 401)
  })

  describe('identity headers', () => {
    const forged = ['Host', 'x', 'X-Remote-User', 'root', 'X-Remote-Group', 'system:masters']
    let proxy: KeyPair
    before(async () => {
      proxy = await issueClient(proxies, { subject: 'CN=front-proxy' })
    })

    it('are accepted from the front proxy, line by line', async () => {
      const user = await ask(
        [
          ...['Host', 'x', 'x-remote-user', 'dora', 'X-Remote-Uid', '7'],
          ...['X-Remote-Group', 'a, system:masters', 'X-REMOTE-GROUP', 'b'],
          ...['X-Remote-Extra-Authentication.kcp.io%2fScopes', 'cluster:a,cluster:b'],
        ],
        proxy,
      )
      assert.deepEqual(user, {
        name: 'dora',
        uid: '7',
        groups: ['a, system:masters', 'b', 'system:authenticated'],
        extra: { 'authentication.kcp.io/scopes': ['cluster:a,cluster:b'] },
      })
    })

    it('are ignored without a certificate, with a token, and from users', async () => {
      assert.equal(await ask(forged), null)
      const [alice, carol] = [
        await ask([...forged, 'Authorization', 'Bearer alice-token']),
        await ask(forged, await issueClient(users, { subject: 'CN=carol' })),
      ]
      assert.deepEqual(
        [alice, carol].map(user => (user as UserInfo).name),
        ['alice', 'carol'],
      )
    })

    it('are refused from another name under the proxies’ authority', async () => {
      assert.equal(await ask(forged, await issueClient(proxies, { subject: 'CN=other' })), 401)
    })

    it('are refused when ambiguous, empty or undecodable', async () => {
      for (const lines of [
        ['X-Remote-User', 'a', 'X-Remote-User', 'b'],
        ['X-Remote-User', ''],
        ['X-Remote-User', 'a', 'X-Remote-Extra-a%zz', 'b'],
        // Latin-1, of which a decoder would make the same character for all letters that are not ASCII.
        ['X-Remote-User', 'J\xfcrgen'],
        ['X-Remote-User', 'a', 'X-Remote-Group', '\xfc'],
        ['X-Remote-User', 'a', 'X-Remote-Extra-a', '\xfc'],
      ])
        assert.equal(await ask(['Host', 'x', ...lines], proxy), 401)
    })

    it('are UTF-8, as Go sends them', async () => {
      const sent = (text: string) => Buffer.from(text).toString('latin1')
      const lines = [
        'X-Remote-User',
        sent('Jürgen'),
        'X-Remote-Group',
        sent('山'),
        'X-Remote-Extra-a',
        sent('ß'),
      ]
      assert.deepEqual(await ask(['Host', 'x', ...lines], proxy), {
        name: 'Jürgen',
        groups: ['山', 'system:authenticated'],
        extra: { a: ['ß'] },
      })
    })

    it('decode a key once', async () => {
      const user = await ask(['Host', 'x', 'X-Remote-User', 'a', 'X-Remote-Extra-a%252Fb', 'c'], proxy)
      assert.deepEqual((user as UserInfo).extra, { 'a%2fb': ['c'] })
    })

    it('do not make the proxy a user: its certificate is not one of a user', async () => {
      assert.equal(await ask(['Host', 'x'], proxy), null)
      assert.equal(((await ask(bearer('bob-token'), proxy)) as UserInfo).name, 'bob')
    })

    it('make system:anonymous no member of system:authenticated', async () => {
      const lines = [
        'Host',
        'x',
        'X-Remote-User',
        'system:anonymous',
        'X-Remote-Group',
        'system:unauthenticated',
      ]
      assert.deepEqual(await ask(lines, proxy), {
        name: 'system:anonymous',
        groups: ['system:unauthenticated'],
      })
    })
  })
})

describe('token file', () => {
  it('reads quotes, empty lines, and lines without groups', async () => {
    const read = tokenFile('"a,b","say ""hi""",1,"g1,g2"\r\n\r\nt,u,\n')
    assert.equal((await read('a,b', {}))?.user.name, 'say "hi"')
    assert.deepEqual((await read('t', {}))?.user, { name: 'u', groups: ['system:authenticated'] })
  })
  for (const [line, problem] of [
    ['t,u', /line 1 has 2 of at least 3 columns/],
    [',u,1', /line 1 has an empty token/],
    ['t,u,1\nt,v,2', /line 2 has the token of an earlier line/],
    ['t,"u"x,1', /line 1 has a misplaced quotation mark/],
  ] as const)
    it(`refuses ${JSON.stringify(line)}`, () => assert.throws(() => tokenFile(line), problem))
})
