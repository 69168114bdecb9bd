import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueAuthority } from '../../../../cmd/certificates/certificates.ts'
import { type Kubectl, kubectlFor, type Oriel, readText, startOriel } from '../../../support/oriel.ts'
import { type Issuer, startIssuer } from '../../../support/servers/issuer.ts'
import { startWebhook } from '../../../support/servers/webhook.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { apply } from '../../../support/tenants.ts'
import { ask, type OpenReply, open, protocols, type WireRequest } from '../../../support/wire.ts'

export interface UserInfo {
  readonly uid?: string
  readonly username: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export const configFor = (issuer: Issuer): object => ({
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
export const wacFor = (issuer: Issuer, audience: string) => ({
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
export const teamType = {
  apiVersion: tenancy,
  kind: 'WorkspaceType',
  metadata: { name: 'federated' },
  spec: {
    authenticationConfigurations: [{ name: 'team-idp' }],
    extend: { with: [{ name: 'universal', path: 'root' }] },
  },
}
export const workspace = (name: string, type?: string) => ({
  apiVersion: tenancy,
  kind: 'Workspace',
  metadata: { name },
  spec: type === undefined ? {} : { type: { name: type, path: 'root' } },
})

export interface Asked {
  readonly token: string
}

/** A webhook that accepts one token. */
const reviewed = ({ spec }: Readonly<Record<string, unknown>>): object => {
  const user = { username: 'hank', uid: '7', groups: ['hooked'], extra: { 'example.com/floor': ['3'] } }
  return { status: (spec as Asked).token === 'hank-token' ? { authenticated: true, user } : {} }
}

/** A server with all authentication methods, and requests of tests. */
export type Scene = Awaited<ReturnType<typeof openScene>>

export async function openScene() {
  const directory = await temporaryDirectory('identities')
  const [company, team] = await Promise.all([startIssuer(), startIssuer({ algorithm: 'ES256' })])
  const [users, proxies] = [issueAuthority(), issueAuthority()]
  const files = {
    config: join(directory, 'authentication.yaml'),
    users: join(directory, 'users.crt'),
    proxies: join(directory, 'proxies.crt'),
  }
  await writeFile(files.config, JSON.stringify(configFor(company)))
  await writeFile(files.users, users.certificate)
  await writeFile(files.proxies, proxies.certificate)
  const hook = await startWebhook(reviewed)
  const hookFile = join(directory, 'hook.kubeconfig')
  await writeFile(hookFile, hook.kubeconfig)
  const tokens = join(directory, 'tokens.csv')
  await writeFile(tokens, 'alice-token,alice,1,"devs"\n')
  const oriel = await startOriel({
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
  const ca = await readText(join(oriel.directory, 'ca.crt'))
  const root = kubectlFor(oriel, 'root')
  const cluster = await fill(root, team)
  const known = { oriel, root, company, team, users, proxies, hook, files, ca, cluster }
  return { ...known, ...asking(oriel, company, ca) }
}

/** A workspace of a type that trusts the team's issuer, its logical cluster, and one of another type. */
async function fill(root: Kubectl, team: Issuer): Promise<string> {
  await apply(root, wacFor(team, 'team'), teamType)
  await apply(root, workspace('team', 'federated'), workspace('plain'))
  await root([
    'wait',
    '--for=jsonpath={.status.phase}=Ready',
    '--timeout=60s',
    'workspace/team',
    'workspace/plain',
  ])
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
  return root(['get', 'workspace', 'team', '-o', 'jsonpath={.spec.cluster}'])
}

const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
export const bearer = (token: string): WireRequest => ({ headers: { authorization: `Bearer ${token}` } })

function asking(oriel: Oriel, company: Issuer, ca: string) {
  const whoami = (path: string, wanted: WireRequest, protocol = protocols[0] ?? 'HTTP/1.1') =>
    ask(protocol, `${oriel.url}${path}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
      ca,
      method: 'POST',
      body: review,
      ...wanted,
      headers: { 'content-type': 'application/json', ...wanted.headers },
    })
  const userOf = async (path: string, wanted: WireRequest, protocol = protocols[0]): Promise<UserInfo> => {
    const reply = await whoami(path, wanted, protocol)
    assert.equal(reply.status, 201, reply.body)
    return JSON.parse(reply.body).status.userInfo
  }
  /** Refused over both protocols, without details. */
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
  return { whoami, userOf, refused, watching }
}

/** Resolves when data has arrived through a watch, and closes it. */
export const seen = async (stream: OpenReply, name: string): Promise<void> => {
  for (let text = ''; !text.includes(name); ) {
    const piece = await stream.next()
    assert.ok(piece !== undefined, `the watch ended before ${name} came`)
    text += piece
  }
  stream.leave()
}
