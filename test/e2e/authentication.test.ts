import assert from 'node:assert/strict'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueAuthority, type KeyPair } from '../../cmd/certificates.ts'
import { issueClient } from '../support/clientcertificates.ts'
import { type Issuer, startIssuer } from '../support/issuer.ts'
import {
  discard,
  eventually,
  type Kubectl,
  kubectlFor,
  type Oriel,
  readText,
  startOriel,
} from '../support/oriel.ts'
import { apply } from '../support/tenants.ts'
import { startWebhook, type Webhook } from '../support/webhook.ts'
import { ask, type OpenReply, open, protocols, type WireRequest } from '../support/wire.ts'

interface UserInfo {
  readonly uid?: string
  readonly username: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

const configFor = (issuer: Issuer): object => ({
  apiVersion: 'apiserver.config.k8s.io/v1beta1',
  kind: 'AuthenticationConfiguration',
  jwt: [
    {
      issuer: { url: issuer.url, audiences: ['oriel'], certificateAuthority: issuer.ca },
      claimMappings: {
        username: { expression: '"oidc:" + claims.sub' },
        groups: { expression: 'claims.roles.split(",")' },
        extra: [{ key: 'example.org/team', valueExpression: 'claims.?team.orValue("")' }],
      },
      claimValidationRules: [{ expression: 'claims.?banned.orValue(false) == false', message: 'banned' }],
      userValidationRules: [{ expression: "user.username != 'oidc:nobody'", message: 'nobody' }],
    },
  ],
})

const tenancy = 'tenancy.kcp.io/v1alpha1'
const wacFor = (issuer: Issuer, audience: string) => ({
  apiVersion: tenancy,
  kind: 'WorkspaceAuthenticationConfiguration',
  metadata: { name: 'team-idp' },
  spec: {
    jwt: [
      {
        issuer: { url: issuer.url, audiences: [audience], certificateAuthority: issuer.ca },
        claimMappings: {
          username: { claim: 'sub', prefix: '' },
          groups: { claim: 'groups', prefix: '' },
          extra: [
            { key: 'kcp.io/test', valueExpression: '"a"' },
            { key: 'authentication.kcp.io/scopes', valueExpression: '"cluster:root"' },
            { key: 'other.example.com/test', valueExpression: '"b"' },
          ],
        },
      },
    ],
  },
})
const teamType = {
  apiVersion: tenancy,
  kind: 'WorkspaceType',
  metadata: { name: 'federated' },
  spec: {
    authenticationConfigurations: [{ name: 'team-idp' }],
    extend: { with: [{ name: 'universal', path: 'root' }] },
  },
}
const workspace = (name: string, type?: string) => ({
  apiVersion: tenancy,
  kind: 'Workspace',
  metadata: { name },
  spec: type === undefined ? {} : { type: { name: type, path: 'root' } },
})

interface Asked {
  readonly token: string
}

/** A webhook that knows one token. */
const reviewed = ({ spec }: Readonly<Record<string, unknown>>): object => {
  const user = { username: 'hank', uid: '7', groups: ['hooked'], extra: { 'example.com/floor': ['3'] } }
  return { status: (spec as Asked).token === 'hank-token' ? { authenticated: true, user } : {} }
}

describe('who is known', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let root: Kubectl
  let company: Issuer
  let team: Issuer
  let users: KeyPair
  let proxies: KeyPair
  let hook: Webhook
  let files: { readonly config: string; readonly users: string; readonly proxies: string }
  let ca: string
  let cluster: string

  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'oriel-identities-'))
    ;[company, team] = await Promise.all([startIssuer(), startIssuer({ algorithm: 'ES256' })])
    ;[users, proxies] = [issueAuthority(), issueAuthority()]
    files = {
      config: join(directory, 'authentication.yaml'),
      users: join(directory, 'users.crt'),
      proxies: join(directory, 'proxies.crt'),
    }
    await writeFile(files.config, JSON.stringify(configFor(company)))
    await writeFile(files.users, users.certificate)
    await writeFile(files.proxies, proxies.certificate)
    hook = await startWebhook(reviewed)
    const hookFile = join(directory, 'hook.kubeconfig')
    await writeFile(hookFile, hook.kubeconfig)
    const tokens = join(directory, 'tokens.csv')
    await writeFile(tokens, 'alice-token,alice,1,"devs"\n')
    oriel = await startOriel({
      directory,
      args: [
        ...['--store', 'memory:', '--token-auth-file', tokens, '--issuer-allow', 'localhost'],
        ...['--authentication-token-webhook-config-file', hookFile],
        ...['--authentication-config', files.config, '--client-ca-file', files.users],
        ...['--requestheader-client-ca-file', files.proxies, '--requestheader-allowed-names', 'front-proxy'],
        ...[
          '--requestheader-username-headers',
          'X-Proxy-User',
          '--requestheader-group-headers',
          'X-Proxy-Group',
        ],
        ...[
          '--requestheader-extra-headers-prefix',
          'X-Proxy-Extra-',
          '--requestheader-uid-headers',
          'X-Proxy-Uid',
        ],
      ],
    })
    ca = await readText(join(oriel.directory, 'ca.crt'))
    root = kubectlFor(oriel, 'root')
    await apply(root, wacFor(team, 'team'), teamType)
    await apply(root, workspace('team', 'federated'), workspace('plain'))
    await root([
      'wait',
      '--for=jsonpath={.status.phase}=Ready',
      '--timeout=60s',
      'workspace/team',
      'workspace/plain',
    ])
    cluster = await root(['get', 'workspace', 'team', '-o', 'jsonpath={.spec.cluster}'])
    await root(['create', 'clusterrolebinding', 'watchers', '--clusterrole=view', '--group=watchers'])
    const access = '--clusterrole=system:kcp:workspace:access'
    for (const path of ['root', 'root:team', 'root:plain'])
      await root.at(`/clusters/${path}`)([
        'create',
        'clusterrolebinding',
        'all',
        access,
        '--group=system:authenticated',
      ])
  })
  after(async () => {
    await discard(oriel)
    hook.close()
    await Promise.all([company.stop(), team.stop()])
  })

  const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
  const whoami = (path: string, wanted: WireRequest, protocol = protocols[0] ?? 'HTTP/1.1') =>
    ask(protocol, `${oriel.url}${path}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
      ca,
      method: 'POST',
      body: review,
      ...wanted,
      headers: { 'content-type': 'application/json', ...wanted.headers },
    })
  const bearer = (token: string): WireRequest => ({ headers: { authorization: `Bearer ${token}` } })
  const userOf = async (path: string, wanted: WireRequest, protocol = protocols[0]): Promise<UserInfo> => {
    const reply = await whoami(path, wanted, protocol)
    assert.equal(reply.status, 201, reply.body)
    return JSON.parse(reply.body).status.userInfo
  }
  /** Refused over both protocols, in the words that tell nothing. */
  const refused = async (path: string, wanted: WireRequest): Promise<void> => {
    for (const protocol of protocols) {
      const { status, body } = await whoami(path, wanted, protocol)
      assert.equal(status, 401, body)
      assert.equal(JSON.parse(body).message, 'Unauthorized')
    }
  }

  /** A watch of config maps that is open. */
  const watching = async (protocol: (typeof protocols)[number]): Promise<OpenReply> => {
    const token = await company.token({ sub: 'watcher', roles: 'watchers' })
    const path = '/clusters/root/api/v1/namespaces/default/configmaps?watch=true'
    const stream = await open(protocol, oriel.url + path, { ca, ...bearer(token) })
    assert.equal(stream.status, 200)
    return stream
  }
  const seen = async (stream: OpenReply, name: string): Promise<void> => {
    for (let text = ''; !text.includes(name); ) {
      const piece = await stream.next()
      assert.ok(piece !== undefined, `the watch ended before ${name} came`)
      text += piece
    }
    stream.leave()
  }

  describe('by tokens of the company’s issuer', () => {
    it('are users as its configuration maps them, everywhere', async () => {
      const token = await company.token({ sub: 'bob', roles: 'dev,ops', team: 'blue', jti: 'j' })
      for (const path of ['/clusters/root', '/clusters/root:plain'])
        assert.deepEqual(await userOf(path, bearer(token)), {
          username: 'oidc:bob',
          groups: ['dev', 'ops', 'system:authenticated'],
          extra: {
            'authentication.kubernetes.io/credential-id': ['JTI=j'],
            'example.org/team': ['blue'],
          },
        })
    })

    it('are nobody of the system', async () => {
      const { groups } = await userOf(
        '/clusters/root',
        bearer(await company.token({ sub: 'eve', roles: 'system:masters,dev' })),
      )
      assert.deepEqual(groups, ['dev', 'system:authenticated'])
    })

    it('are refused when its rules do not hold, and when the token is not good', async () => {
      const now = Math.floor(Date.now() / 1000)
      for (const claims of [
        { banned: true },
        { sub: 'nobody' },
        { exp: now - 10 },
        { nbf: now + 600 },
        { aud: 'x' },
        { roles: 7 },
      ])
        await refused('/clusters/root', bearer(await company.token({ sub: 'bob', roles: '', ...claims })))
      const [head, body] = (await company.token({ sub: 'bob', roles: '' })).split('.')
      const none = Buffer.from('{"alg":"none"}').toString('base64url')
      for (const forged of [
        `${none}.${body}.`,
        `${head}.${body}.`,
        `${head}.${body}.AAAA`,
        `${none}.e30.`,
        'a.b.c',
      ])
        await refused('/clusters/root', bearer(forged))
    })

    it('are known by its new key soon', async () => {
      await userOf('/clusters/root', bearer(await company.token({ sub: 'bob', roles: '' })))
      await company.rotate('published')
      const token = await company.token({ sub: 'bob', roles: '' })
      // Keys are asked for again ten seconds after the last time at the earliest.
      await eventually(
        () => whoami('/clusters/root', bearer(token)),
        ({ status }) => status === 201,
      )
    })
  })

  describe('by tokens of an issuer that a workspace’s type trusts', () => {
    const claims = { sub: 'carol', aud: 'team', groups: ['devs', 'system:kcp:admin', 'system:masters'] }

    it('are users in that workspace, and confined to it', async () => {
      const token = await team.token({ ...claims, jti: 'j' })
      const user = await userOf('/clusters/root:team', bearer(token))
      assert.equal(user.username, 'carol')
      assert.deepEqual(user.groups, ['devs', 'system:authenticated'])
      assert.deepEqual(user.extra, {
        'authentication.kcp.io/cluster-name': [cluster],
        'authentication.kcp.io/scopes': [`cluster:${cluster}`],
        'authentication.kubernetes.io/credential-id': ['JTI=j'],
        'other.example.com/test': ['b'],
      })
      assert.equal((await userOf(`/clusters/${cluster}`, bearer(token))).username, 'carol')
    })

    it('are nobody elsewhere', async () => {
      const token = await team.token(claims)
      for (const path of [
        '/clusters/root',
        '/clusters/root:plain',
        '',
        '/clusters/*',
        '/clusters/system:admin',
      ])
        await refused(path, bearer(token))
    })

    it('have no name of the system', async () => {
      for (const sub of ['system:admin', 'system:serviceaccount:default:default'])
        await refused('/clusters/root:team', bearer(await team.token({ ...claims, sub })))
    })

    it('are reviewed in that workspace', async () => {
      const token = await team.token(claims)
      const ask = async (path: string) => {
        const object = {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenReview',
          metadata: {},
          spec: { token },
        }
        const made = await root.at(path)(['create', '-f', '-', '-o', 'json'], JSON.stringify(object))
        return JSON.parse(made).status
      }
      const { authenticated, audiences, user } = await ask('/clusters/root:team')
      assert.deepEqual(
        [authenticated, audiences, user.username],
        [true, ['https://kcp.default.svc'], 'carol'],
      )
      assert.deepEqual(user.extra['authentication.kcp.io/scopes'], [`cluster:${cluster}`])
      assert.equal((await ask('/clusters/root:plain')).authenticated, undefined)
    })

    it('are refused without credentials as everybody is, and not with a 500', async () => {
      const { status } = await whoami('/clusters/root:team', {})
      assert.equal(status, 403)
      await refused('/clusters/root:team', bearer('nothing'))
    })

    it('are known by what the configuration says now', async () => {
      await apply(root, wacFor(team, 'other'))
      await refused('/clusters/root:team', bearer(await team.token(claims)))
      const again = await team.token({ ...claims, aud: 'other' })
      assert.equal((await userOf('/clusters/root:team', bearer(again))).username, 'carol')
      await root(['delete', 'workspaceauthenticationconfiguration', 'team-idp'])
      await refused('/clusters/root:team', bearer(again))
    })
  })

  describe('by a server outside', () => {
    it('are whom it says, asked once', async () => {
      const hank = await userOf('/clusters/root', bearer('hank-token'))
      const groups = ['hooked', 'system:authenticated']
      assert.deepEqual(hank, { username: 'hank', uid: '7', groups, extra: { 'example.com/floor': ['3'] } })
      await userOf('/clusters/root:plain', bearer('hank-token'))
      assert.equal(hook.got.filter(({ spec }) => (spec as Asked).token === 'hank-token').length, 1)
    })

    it('are nobody, when it knows them not', () => refused('/clusters/root', bearer('other-token')))
  })

  describe('by headers of a front proxy', () => {
    const forged = {
      'X-Remote-User': 'root',
      'X-Remote-Group': 'system:masters',
      'X-Remote-Extra-authorization.kcp.io%2Fwarrant': '{"user":"x","groups":["system:masters"]}',
      'X-Remote-Uid': '0',
      'X-Proxy-User': 'root',
      'X-Proxy-Group': 'system:masters',
      'X-Proxy-Extra-authentication.kcp.io%2Fscopes': 'cluster:root',
      X_Proxy_User: 'root',
    }
    const asserted = {
      'x-proxy-user': 'dora',
      'X-Proxy-Group': 'ops',
      'X-Proxy-Uid': '9',
      'X-Proxy-Extra-Authentication.kcp.io%2fscopes': 'cluster:root',
    }

    it('are believed, by the names that are configured and no others', async () => {
      const proxy = await issueClient(proxies, { subject: 'CN=front-proxy' })
      for (const protocol of protocols)
        assert.deepEqual(
          await userOf(
            '/clusters/root',
            { client: proxy, headers: { ...asserted, 'X-Remote-Group': 'system:masters' } },
            protocol,
          ),
          {
            username: 'dora',
            uid: '9',
            groups: ['ops', 'system:authenticated'],
            extra: { 'authentication.kcp.io/scopes': ['cluster:root'] },
          },
        )
    })

    it('are worth nothing from anybody else', async () => {
      const carol = await issueClient(users, { subject: 'CN=carol, O=devs' })
      for (const protocol of protocols) {
        const byCertificate = await userOf('/clusters/root', { client: carol, headers: forged }, protocol)
        assert.deepEqual(
          [byCertificate.username, byCertificate.groups],
          ['carol', ['devs', 'system:authenticated']],
        )
        const headers = { ...forged, authorization: 'Bearer alice-token' }
        const byToken = await userOf('/clusters/root', { headers }, protocol)
        assert.deepEqual(
          [byToken.username, byToken.groups, byToken.extra],
          ['alice', ['devs', 'system:authenticated'], undefined],
        )
        assert.equal((await whoami('/clusters/root', { headers: forged }, protocol)).status, 403)
      }
    })

    it('are not taken away by a Connection header', async () => {
      const proxy = await issueClient(proxies, { subject: 'CN=front-proxy' })
      const connection = 'X-Proxy-Extra-Authentication.kcp.io%2fscopes, X-Proxy-User, close'
      const { username, extra } = await userOf(
        '/clusters/root',
        { client: proxy, headers: { ...asserted, connection } },
        'HTTP/1.1',
      )
      assert.deepEqual([username, extra], ['dora', { 'authentication.kcp.io/scopes': ['cluster:root'] }])
    })

    it('are refused from other names under the proxies’ authority, and under others', async () => {
      await refused('/clusters/root', {
        client: await issueClient(proxies, { subject: 'CN=other' }),
        headers: asserted,
      })
      const strangers = issueAuthority()
      await refused('/clusters/root', {
        client: await issueClient(strangers, { subject: 'CN=front-proxy' }),
        headers: asserted,
      })
      await refused('/clusters/root', {
        client: await issueClient(proxies, { subject: 'CN=front-proxy', hours: -1 }),
        headers: asserted,
      })
    })
  })

  describe('by certificates', () => {
    it('are refused when expired, for servers, without a name, and beside a bad token', async () => {
      for (const options of [
        { subject: 'CN=a, O=system:masters', hours: -1 },
        { subject: 'CN=a', serverOnly: true },
        { subject: 'O=devs' },
      ])
        await refused('/clusters/root', { client: await issueClient(users, options) })
      const good = await issueClient(users, { subject: 'CN=a' })
      await refused('/clusters/root', { client: good, ...bearer('nope') })
    })

    it('have the UID that is in them', async () => {
      const client = await issueClient(users, { subject: 'CN=a, 1.3.6.1.4.1.57683.2=u-1' })
      assert.equal((await userOf('/clusters/root', { client })).uid, 'u-1')
    })
  })

  describe('after their files have changed', () => {
    it('are users of another authority, and no more of the old one', async () => {
      const [old, next] = [await issueClient(users, { subject: 'CN=old' }), issueAuthority()]
      await userOf('/clusters/root', { client: old })
      const watches = await Promise.all(protocols.map(watching))
      await writeFile(files.users, 'broken')
      await writeFile(files.users, next.certificate)
      const fresh = await issueClient(next, { subject: 'CN=fresh' })
      await eventually(
        () => whoami('/clusters/root', { client: fresh }),
        ({ status }) => status === 201,
      )
      await refused('/clusters/root', { client: old })
      const proxy = await issueClient(proxies, { subject: 'CN=front-proxy' })
      await userOf('/clusters/root', { client: proxy, headers: { 'X-Proxy-User': 'dora' } })
      await root(['create', 'configmap', 'after-the-change', '-n', 'default'])
      for (const stream of watches) await seen(stream, 'after-the-change')
    })

    it('are users of other issuers', async () => {
      const token = await team.token({ sub: 'zoe', roles: 'dev', aud: 'oriel' })
      await refused('/clusters/root', bearer(token))
      await writeFile(files.config, JSON.stringify(configFor(team)))
      const known = () => whoami('/clusters/root', bearer(token))
      await eventually(known, ({ status }) => status === 201)
      await refused('/clusters/root', bearer(await company.token({ sub: 'bob', roles: '' })))
    })

    it('are nobody without credentials, but where the configuration lets everybody in', async () => {
      const nobody = (path: string) => ask('HTTP/2', `${oriel.url}/clusters/root${path}`, { ca })
      assert.equal((await nobody('/livez')).status, 200)
      assert.equal((await nobody('/api')).status, 403)
      const anonymous = { enabled: true, conditions: [{ path: '/livez' }] }
      await writeFile(files.config, JSON.stringify({ ...configFor(team), anonymous }))
      await eventually(
        () => nobody('/api'),
        ({ status }) => status === 401,
      )
      assert.equal((await nobody('/livez')).status, 200)
      assert.equal((await nobody('/readyz')).status, 401)
      await userOf('/clusters/root', bearer('alice-token'))
    })
  })

  it('never makes an internal error of a bad credential', async () => {
    const lines = [
      '',
      'Bearer',
      'Bearer ',
      'bearer x',
      'Bearer\tx',
      'Bearer a b',
      'Basic YTpi',
      'Bearer ..',
      'Bearer {}.{}.{}',
      `Bearer ${'a'.repeat(12_000)}`,
      `Bearer ${'e30.'.repeat(2000)}`,
      `Bearer e30.${Buffer.from('{"iss":{"a":1},"kubernetes.io":7}').toString('base64url')}.x`,
      `Bearer e30.${Buffer.from('{"iss":"https://kcp.default.svc","kubernetes.io":{"clusterName":"../.."}}').toString('base64url')}.x`,
      `Bearer e30.${Buffer.from('{"iss":"kubernetes/serviceaccount"}').toString('base64url')}.x`,
      `Bearer ${Buffer.from('{"alg":"ES256","kid":{}}').toString('base64url')}.${Buffer.from('{"iss":"https://kcp.default.svc"}').toString('base64url')}.x`,
    ]
    for (const authorization of lines)
      for (const protocol of protocols)
        for (const path of ['', '/clusters/root', '/clusters/*', '/clusters/root:team']) {
          const { status } = await whoami(path, { headers: { authorization } }, protocol)
          assert.ok(
            [401, 403].includes(status),
            `${protocol} ${path} ${authorization.slice(0, 40)}: ${status}`,
          )
        }
    const { status } = await whoami('/clusters/root?access_token=alice-token', {})
    assert.equal(status, 403)
  })
})
