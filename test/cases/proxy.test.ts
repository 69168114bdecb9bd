import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueAuthority, issueServing } from '../../cmd/certificates/certificates.ts'
import { issueClient } from '../support/clientcertificates.ts'
import {
  discard,
  eventually,
  kubectlFor,
  type Oriel,
  readText,
  startOriel,
  tokenOfDefault,
} from '../support/oriel.ts'
import { type FrontProxy, startFrontProxy, writeProxyAuthority } from '../support/servers/frontproxy.ts'
import { type Issuer, startIssuer } from '../support/servers/issuer.ts'
import { apply } from '../support/tenants.ts'
import { trusting } from '../support/trust.ts'
import { ask, protocols, type WireRequest } from '../support/wire.ts'

const tenancy = 'tenancy.kcp.io/v1alpha1'
const forged = {
  'X-Remote-User': 'system:admin',
  'X-Remote-Group': 'system:masters',
  'X-Remote-Extra-authorization.kcp.io%2Fwarrant': '{"user":"x","groups":["system:masters"]}',
  'X-Remote-Extra-authentication.kcp.io%2Fscopes': 'cluster:root',
}

/** The assertions of kcp's `test/e2e/proxy`, with an upstream server that returns the request it received. */
describe('7.3 front proxy', function () {
  this.timeout(180_000)
  let folder: string
  let issuer: Issuer
  let oriel: Oriel
  let proxy: FrontProxy
  let echo: Server
  let ca: string
  let cluster: string
  const file = (name: string): string => join(folder, name)

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-proxy-'))
    const users = issueAuthority()
    await writeFile(file('users.crt'), users.certificate)
    issuer = await startIssuer()
    const flags = await writeProxyAuthority(folder)
    const args = ['--store', 'memory:', '--issuer-allow', 'localhost', ...flags]
    oriel = await startOriel({ args })
    const mapping = await startEcho()
    const clients = ['--client-ca-file', file('users.crt')]
    proxy = await startFrontProxy({
      folder,
      name: 'front',
      shards: [oriel],
      args: clients,
      mappings: [mapping],
    })
    ca = await readText(file('front-data/ca.crt'))
    cluster = await trustingWorkspace()
    const { certificate, key } = await issueClient(users, { subject: 'CN=attacker' })
    attacker = { client: { certificate, key } }
  })
  after(async () => {
    echo.close()
    await proxy.stop()
    await discard(oriel)
    await issuer.stop()
    await rm(folder, { recursive: true })
  })
  let attacker: WireRequest

  /** Responds with the headers of the request. */
  async function startEcho(): Promise<object> {
    const authority = issueAuthority()
    const { certificate: cert, key } = issueServing(authority, ['localhost', '127.0.0.1'])
    echo = createServer({ cert, key }, ({ headers }, response) => response.end(JSON.stringify(headers)))
    echo.listen(0, '127.0.0.1')
    await once(echo, 'listening')
    await writeFile(file('echo-ca.crt'), authority.certificate)
    return {
      path: '/e2e/clusters/{cluster}',
      backend: `https://localhost:${(echo.address() as AddressInfo).port}`,
      backend_server_ca: file('echo-ca.crt'),
      proxy_client_cert: file('proxy.crt'),
      proxy_client_key: file('proxy.key'),
    }
  }

  /** A workspace of a type that trusts the issuer; its logical cluster. */
  async function trustingWorkspace(): Promise<string> {
    const root = kubectlFor(oriel, 'root')
    await apply(root, ...trusting('company', issuer), {
      apiVersion: tenancy,
      kind: 'Workspace',
      metadata: { name: 'team' },
      spec: { type: { name: 'company', path: 'root' } },
    })
    await root(['wait', '--for=jsonpath={.status.phase}=Ready', '--timeout=90s', 'workspace/team'])
    return root(['get', 'workspace', 'team', '-o', 'jsonpath={.spec.cluster}'])
  }

  /** The headers that arrive behind the proxy. */
  const behind = async (path: string, wanted: WireRequest): Promise<IncomingHttpHeaders> => {
    const reply = await eventually(
      () => ask('HTTP/2', proxy.url + path, { ca, ...wanted }),
      ({ status }) => status === 200,
    )
    return JSON.parse(reply.body)
  }

  it('TestMappingWithClusterContext: a mapping with a workspace in its path authenticates users of that workspace', async () => {
    const token = await issuer.token({ sub: 'bob', email: 'bob@example.com', groups: ['developers'] })
    const authorization = `Bearer ${token}`
    const got = await behind('/e2e/clusters/root:team/anything', { headers: { authorization } })
    assert.equal(got['x-remote-user'], 'oidc:bob@example.com')
    const groups = String(got['x-remote-group']).split(', ').sort()
    assert.deepEqual(groups, ['oidc:developers', 'system:authenticated'])
    assert.equal(got['x-remote-extra-authentication.kcp.io%2fscopes'], `cluster:${cluster}`)
    assert.equal(got['x-remote-extra-authentication.kcp.io%2fcluster-name'], cluster)
    assert.equal(got.authorization, undefined)
    const elsewhere = await ask('HTTP/2', `${proxy.url}/e2e/clusters/root/anything`, {
      ca,
      headers: { authorization },
    })
    assert.equal(elsewhere.status, 401)
  })

  it('TestIdentityHeaderInjectionDoesNotEscalate, via proxy: the user is the authenticated one', async () => {
    const clean = await behind('/e2e/clusters/root:team/x', attacker)
    const got = await behind('/e2e/clusters/root:team/x', { ...attacker, headers: forged })
    const identity = (headers: IncomingHttpHeaders) =>
      Object.entries(headers).filter(([name]) => name.startsWith('x-remote-'))
    assert.deepEqual(identity(got), identity(clean))
    assert.equal(got['x-remote-user'], 'attacker')
    assert.doesNotMatch(JSON.stringify(got), /system:masters|warrant|scopes/)
  })

  it('TestIdentityHeaderInjectionDoesNotEscalate, directly to the shard: the headers are ignored', async () => {
    const shard = await readText(join(oriel.directory, 'ca.crt'))
    const admin = kubectlFor(oriel, 'root')
    const authorization = `Bearer ${await tokenOfDefault(admin)}`
    for (const protocol of protocols) {
      const headers = { ...forged, authorization }
      const path = `${oriel.url}/clusters/root/api/v1/namespaces/default/secrets`
      assert.equal((await ask(protocol, path, { ca: shard, headers })).status, 403)
    }
  })
})
