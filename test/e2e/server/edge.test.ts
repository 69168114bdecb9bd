import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueAuthority, issueServing, type KeyPair } from '../../../cmd/certificates/certificates.ts'
import { issueClient } from '../../support/clientcertificates.ts'
import { eventually, type Kubectl, kubectlFor, readText, tokenOfDefault } from '../../support/oriel.ts'
import { type FrontProxy, startFrontProxy } from '../../support/servers/frontproxy.ts'
import { type Issuer, startIssuer } from '../../support/servers/issuer.ts'
import { type Shards, startShards } from '../../support/servers/shards.ts'
import { apply } from '../../support/tenants.ts'
import { ask, open, protocols, type WireReply, type WireRequest } from '../../support/wire.ts'

interface UserInfo {
  readonly username: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

const tenancy = 'tenancy.kcp.io/v1alpha1'
const jwtFor = (issuer: Issuer, prefix: string) => ({
  issuer: { url: issuer.url, audiences: ['oriel'], certificateAuthority: issuer.ca },
  claimMappings: { username: { claim: 'sub', prefix }, groups: { claim: 'groups', prefix } },
})
const teamConfig = (issuer: Issuer) => ({
  apiVersion: tenancy,
  kind: 'WorkspaceAuthenticationConfiguration',
  metadata: { name: 'team' },
  spec: { jwt: [jwtFor(issuer, 'team:')] },
})
const teamType = {
  apiVersion: tenancy,
  kind: 'WorkspaceType',
  metadata: { name: 'federated' },
  spec: {
    authenticationConfigurations: [{ name: 'team' }],
    extend: { with: [{ name: 'universal', path: 'root' }] },
  },
}
const workspace = (name: string, shard: string, type?: string) => ({
  apiVersion: tenancy,
  kind: 'Workspace',
  metadata: { name },
  spec: {
    location: { selector: { matchLabels: { name: shard } } },
    ...(type && { type: { name: type, path: 'root' } }),
  },
})

describe('authentication at front proxies', function () {
  this.timeout(180_000)
  let folder: string
  let shards: Shards
  let proxy: FrontProxy
  let ca: string
  let issuers: { readonly company: Issuer; readonly team: Issuer }
  let authorities: { readonly users: KeyPair; readonly proxies: KeyPair; readonly serving: KeyPair }
  let clusters: Readonly<Record<string, string>>
  const file = (name: string) => join(folder, name)
  const through = (path: string): Kubectl => proxy.kubectl.at(`/clusters/${path}`)

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-edge-'))
    const [company, team] = await Promise.all([startIssuer(), startIssuer()])
    issuers = { company, team }
    authorities = { users: issueAuthority(), proxies: issueAuthority(), serving: issueAuthority() }
    await writeFile(file('users.crt'), authorities.users.certificate)
    await writeFile(file('proxies.crt'), authorities.proxies.certificate)
    const apiVersion = 'apiserver.config.k8s.io/v1beta1'
    const config = { apiVersion, kind: 'AuthenticationConfiguration', jwt: [jwtFor(company, 'company:')] }
    await writeFile(file('authentication.yaml'), JSON.stringify(config))
    shards = await startShards(folder, ['--issuer-allow', 'localhost'])
    const args = [
      ...['--client-ca-file', file('users.crt'), '--authentication-config', file('authentication.yaml')],
      ...['--requestheader-client-ca-file', file('proxies.crt'), '--requestheader-allowed-names', 'outer'],
      ...['--requestheader-username-headers', 'X-Outer-User'],
    ]
    proxy = await startFrontProxy({ folder, name: 'edge', shards: [shards.root, shards.beta], args })
    ca = await readText(join(folder, 'edge-data', 'ca.crt'))
    const root = through('root')
    await eventually(
      () => root.try(['wait', '--for=create', 'shard/beta']),
      ({ code }) => code === 0,
    )
    await apply(root, teamConfig(team), teamType)
    await apply(root, workspace('near', 'root'), workspace('far', 'beta', 'federated'))
    const names = ['near', 'far']
    await root(['wait', '--for=jsonpath={.status.phase}=Ready', ...names.map(name => `workspace/${name}`)])
    const found = names.map(name => root(['get', 'workspace', name, '-o', 'jsonpath={.spec.cluster}']))
    const [near = '', far = ''] = await Promise.all(found)
    clusters = { near, far }
    for (const path of ['root', 'root:near', 'root:far'])
      await through(path)([
        ...['create', 'clusterrolebinding', 'all', '--clusterrole=system:kcp:workspace:access'],
        '--group=system:authenticated',
      ])
  })
  after(async () => {
    await proxy.stop()
    await Promise.all([shards.root.stop(), shards.beta.stop(), issuers.company.stop(), issuers.team.stop()])
    await rm(folder, { recursive: true })
  })

  const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
  const whoami = (path: string, wanted: WireRequest, protocol = protocols[0] ?? 'HTTP/1.1') =>
    ask(protocol, `${proxy.url}${path}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
      ca,
      method: 'POST',
      body: review,
      ...wanted,
      headers: { 'content-type': 'application/json', ...wanted.headers },
    })
  const userOf = async (path: string, wanted: WireRequest): Promise<UserInfo> => {
    const replies: WireReply[] = []
    for (const protocol of protocols) replies.push(await whoami(path, wanted, protocol))
    const [user, other] = replies.map(({ status, body }) => {
      assert.equal(status, 201, body)
      return JSON.parse(body).status.userInfo as UserInfo
    })
    assert.ok(user)
    assert.deepEqual(user, other)
    return user
  }
  const refused = async (path: string, wanted: WireRequest): Promise<void> => {
    for (const protocol of protocols) {
      const { status, body } = await whoami(path, wanted, protocol)
      assert.equal(status, 401, body)
      assert.equal(JSON.parse(body).message, 'Unauthorized')
    }
  }
  const bearer = (token: string, headers = {}): WireRequest => ({
    headers: { ...headers, authorization: `Bearer ${token}` },
  })
  const everywhere = ['/clusters/root', '/clusters/root:near', '/clusters/root:far']

  it('are users of the proxy’s own issuers, on every shard', async () => {
    const token = await issuers.company.token({ sub: 'bob', groups: ['devs'] })
    for (const path of everywhere) {
      const { username, groups } = await userOf(path, bearer(token))
      assert.deepEqual([username, groups], ['company:bob', ['company:devs', 'system:authenticated']])
    }
    const over = await issuers.company.token({ sub: 'bob', groups: [], exp: 1 })
    await refused('/clusters/root', bearer(over))
  })

  it('are users of certificates, without the groups that the server reserves', async () => {
    const subject = 'CN=carol, O=devs, O=system:masters'
    const client = await issueClient(authorities.users, { subject })
    const { username, groups } = await userOf('/clusters/root:far', { client })
    assert.deepEqual([username, groups], ['carol', ['devs', 'system:authenticated']])
    await refused('/clusters/root', {
      client: await issueClient(authorities.serving, { subject }),
    })
  })

  it('are users in headers of another front proxy, and of no other client', async () => {
    const client = await issueClient(authorities.proxies, { subject: 'CN=outer' })
    const headers = { 'X-Outer-User': 'dave', 'X-Remote-Group': 'ops' }
    const { username, groups } = await userOf('/clusters/root:near', { client, headers })
    assert.deepEqual([username, groups], ['dave', ['ops', 'system:authenticated']])
    await refused('/clusters/root', { headers })
    const other = await issueClient(authorities.proxies, { subject: 'CN=other' })
    await refused('/clusters/root', { client: other, headers })
    const carol = await issueClient(authorities.users, { subject: 'CN=carol' })
    assert.equal((await userOf('/clusters/root', { client: carol, headers })).username, 'carol')
  })

  it('are service accounts of any shard, in their own and in other workspaces', async () => {
    for (const [home, abroad] of [
      ['far', 'near'],
      ['near', 'far'],
    ] as const) {
      const token = await tokenOfDefault(through(`root:${home}`))
      const own = await userOf(`/clusters/root:${home}`, bearer(token))
      assert.equal(own.username, 'system:serviceaccount:default:default')
      const cluster = clusters[home]
      for (const path of [`/clusters/root:${abroad}`, '']) {
        const { username, extra } = await userOf(path, bearer(token))
        assert.equal(username, 'system:serviceaccount:default:default')
        assert.deepEqual(extra?.['authentication.kcp.io/cluster-name'], [cluster])
      }
      const forged = `${token.slice(0, -8)}AAAAAAAA`
      await refused(`/clusters/root:${home}`, bearer(forged))
    }
  })

  it('are users of the issuers of a workspace, in that workspace only', async () => {
    const token = await issuers.team.token({ sub: 'eve', groups: ['a'] })
    const { username, extra } = await userOf('/clusters/root:far', bearer(token))
    assert.equal(username, 'team:eve')
    assert.deepEqual(extra?.['authentication.kcp.io/scopes'], [`cluster:${clusters.far}`])
    await refused('/clusters/root:near', bearer(token))
  })

  it('are never the users in headers of clients, for every Connection header', async () => {
    const token = await issuers.team.token({ sub: 'eve', groups: ['a'] })
    const scopes = 'X-Remote-Extra-Authentication.kcp.io%2fscopes'
    const plain = await userOf('/clusters/root:far', bearer(token))
    for (const headers of [
      { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:kcp:admin', [scopes]: 'cluster:root' },
      { 'X-Remote-Extra-Authorization.kcp.io%2Fwarrant': '{"user":"a","groups":["system:masters"]}' },
      { 'X-Outer-User': 'admin', x_remote_user: 'admin' },
    ])
      assert.deepEqual(await userOf('/clusters/root:far', bearer(token, headers)), plain)
    const connection = `${scopes}, X-Remote-User, X-Remote-Extra-Authentication.kcp.io%2Fcluster-name`
    const { status, body } = await whoami('/clusters/root:far', bearer(token, { connection }))
    assert.equal(status, 201)
    assert.deepEqual(JSON.parse(body).status.userInfo, plain)
  })

  describe('while files change', () => {
    it('serves a new certificate, and drops no connection', async () => {
      const token = await issuers.company.token({ sub: 'bob', groups: [] })
      await through('root')([
        'create',
        'clusterrolebinding',
        'bob',
        '--clusterrole=view',
        '--user=company:bob',
      ])
      const path = '/clusters/root/api/v1/namespaces/default/configmaps?watch=true'
      const stream = await open('HTTP/2', proxy.url + path, { ca, ...bearer(token) })
      assert.equal(stream.status, 200)
      const { certificate, key } = issueServing(authorities.serving, ['127.0.0.1', 'localhost'])
      await writeFile(join(folder, 'edge-data', 'apiserver.key'), key)
      await writeFile(join(folder, 'edge-data', 'apiserver.crt'), certificate)
      const now = { ca: authorities.serving.certificate }
      await eventually(
        () => whoami('/clusters/root', { ...now, ...bearer(token) }).catch(() => undefined),
        reply => reply?.status === 201,
      )
      ca = now.ca
      await kubectlFor(shards.root, 'root')(['create', 'configmap', 'seen'])
      for (let text = ''; !text.includes('"seen"'); ) {
        const piece = await stream.next()
        assert.ok(piece !== undefined, 'the watch ended')
        text += piece
      }
      stream.leave()
    })

    it('accepts users of new certificate authorities', async () => {
      const next = issueAuthority()
      const client = await issueClient(next, { subject: 'CN=frank' })
      await refused('/clusters/root', { client })
      await writeFile(file('users.next'), next.certificate)
      await rename(file('users.next'), file('users.crt'))
      await eventually(
        () => whoami('/clusters/root', { client }),
        ({ status }) => status === 201,
      )
    })

    it('uses the new mapping file if it is valid', async () => {
      const before = await readText(file('edge-mapping.yaml'))
      const token = await issuers.company.token({ sub: 'bob', groups: [] })
      const status = async () =>
        (await ask('HTTP/1.1', `${proxy.url}/healthz`, { ca, ...bearer(token) })).status
      assert.equal(await status(), 404)
      await writeFile(file('edge-mapping.yaml'), '- path: [\n')
      await eventually(
        async () => proxy.output(),
        text => text.includes('the changed mapping file cannot be used'),
      )
      assert.equal(await status(), 404)
      await writeFile(file('edge-mapping.yaml'), before.replace('/services/', '/'))
      await eventually(status, code => code === 200)
    })
  })
})
