import assert from 'node:assert/strict'
import { join } from 'node:path'
import {
  discard,
  eventually,
  type Kubectl,
  kubectlFor,
  type Oriel,
  run,
  tokenOfDefault,
} from '../../support/oriel.ts'
import { startServer } from '../../support/servers/kcp.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { ask } from '../../support/wire.ts'

const issuer = 'https://kcp.default.svc'
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/service-account-token',
  metadata: { name: 'held', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
}
interface Review {
  readonly status: {
    readonly authenticated?: boolean
    readonly audiences?: readonly string[]
    readonly error?: string
    readonly user?: { readonly username?: string; readonly extra?: Record<string, readonly string[]> }
    readonly userInfo?: { readonly username: string; readonly extra?: Record<string, readonly string[]> }
  }
}

/** With `KCP_BIN=… npx mocha …` it runs against kcp. */
describe('service accounts', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let home: Tenant
  let other: Tenant
  before(async () => {
    oriel = await startServer()
    const tenants = await createWorkspaces(oriel, ['home', 'other'])
    home = tenants[0] as Tenant
    other = tenants[1] as Tenant
    await home.kubectl(['create', 'serviceaccount', 'robot'])
    await other.kubectl(['create', 'serviceaccount', 'robot'])
  })
  after(() => discard(oriel))

  const tokenOf = async (kubectl: Kubectl, ...more: string[]): Promise<string> =>
    (await kubectl(['create', 'token', 'robot', ...more])).trim()
  /** kubectl with a token only; without a path as clients inside workspaces use it. */
  const as = (token: string, path: string, args: readonly string[], input = '') =>
    run(
      'kubectl',
      [
        '--kubeconfig',
        '/dev/null',
        '--insecure-skip-tls-verify',
        '-s',
        oriel.url + path,
        '--token',
        token,
        ...args,
      ],
      { input, env: { KUBECACHEDIR: join(oriel.directory, 'cache-of-robots') } },
    )
  const whoami = async (token: string, path: string): Promise<Review['status']['userInfo']> => {
    const { code, stdout, stderr } = await as(token, path, ['auth', 'whoami', '-o', 'json'])
    assert.equal(code, 0, stderr)
    return (JSON.parse(stdout) as Review).status.userInfo
  }
  const review = async (kubectl: Kubectl, token: string, audiences?: string[]): Promise<Review['status']> => {
    const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {} }
    const made = await kubectl(
      ['create', '-f', '-', '-o', 'json'],
      JSON.stringify({ ...kind, spec: { token, audiences } }),
    )
    return (JSON.parse(made) as Review).status
  }

  /** At once; kcp caches the user of a token for some seconds. */
  const refused = async (token: string): Promise<void> => {
    const ask = () => as(token, '', ['auth', 'whoami'])
    const { stderr } = process.env.KCP_BIN
      ? await eventually(ask, ({ code }) => code !== 0, 90_000)
      : await ask()
    assert.match(stderr, /Unauthorized|You must be logged in/)
  }

  it('get tokens with their logical cluster', async () => {
    const token = await tokenOf(home.kubectl, '--duration', '10m')
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    assert.deepEqual(
      [claims.iss, claims.aud, claims.sub],
      [issuer, [issuer], 'system:serviceaccount:default:robot'],
    )
    assert.equal(claims.exp - claims.iat, 600)
    assert.equal(claims['kubernetes.io'].clusterName, home.cluster)
    const user = await whoami(token, `/clusters/${home.path}`)
    assert.equal(user?.username, 'system:serviceaccount:default:robot')
    assert.deepEqual(user?.extra, {
      'authentication.kcp.io/cluster-name': [home.cluster],
      'authentication.kcp.io/scopes': [`cluster:${home.cluster}`],
      'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`],
    })
  })

  it('get the reason if they get none', async () => {
    const refusals: [args: readonly string[], why: RegExp][] = [
      [
        ['robot', '--duration', '5s'],
        /TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes/,
      ],
      [['nobody'], /serviceaccounts "nobody" not found/],
      [['robot', '--bound-object-kind', 'Secret', '--bound-object-name', 'none'], /secrets "none" not found/],
      [['robot', '--bound-object-kind', 'Pod', '--bound-object-name', 'none'], /pods "none" not found/],
    ]
    for (const [args, why] of refusals) {
      const { code, stderr } = await home.kubectl.try(['create', 'token', ...args])
      assert.equal(code, 1)
      assert.match(stderr, why)
    }
  })

  it('get no token for another account of the same name', async () => {
    const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' }
    const path = `/clusters/${home.path}/api/v1/namespaces/default/serviceaccounts/robot/token`
    const args = ['create', '--raw', path, '-f', '-']
    const { code, stderr } = await home.kubectl.try(
      args,
      JSON.stringify({ ...kind, metadata: { uid: 'gone' } }),
    )
    assert.equal(code, 1)
    assert.match(stderr, /the UID in the token request \(gone\) does not match the UID of the/)
  })

  it('use their workspace without its path', async () => {
    const token = await tokenOf(home.kubectl)
    const { stderr } = await as(token, '', ['get', 'configmaps'])
    assert.match(stderr, /User "system:serviceaccount:default:robot" cannot list resource "configmaps"/)
    await home.kubectl(['create', 'role', 'reader', '--verb=list', '--resource=configmaps'])
    await home.kubectl(['create', 'rolebinding', 'reader', '--role=reader', '--serviceaccount=default:robot'])
    const list = await eventually(
      () => as(token, '', ['get', 'configmaps', '-o', 'name']),
      ({ code }) => code === 0,
    )
    assert.match(list.stdout, /configmap\/kube-root-ca.crt/)
    assert.equal((await whoami(token, ''))?.username, 'system:serviceaccount:default:robot')
  })

  it('have no permissions in other workspaces, also not those of the same name there', async () => {
    const token = await tokenOf(home.kubectl)
    const read = () => as(token, `/clusters/${other.path}`, ['get', 'configmaps', '-o', 'name'])
    await other.kubectl(['create', 'role', 'reader', '--verb=list', '--resource=configmaps'])
    await other.kubectl([
      'create',
      'rolebinding',
      'reader',
      '--role=reader',
      '--serviceaccount=default:robot',
    ])
    await other.kubectl(['create', 'rolebinding', 'all', '--role=reader', '--group=system:serviceaccounts'])
    const access = '--clusterrole=system:kcp:workspace:access'
    await other.kubectl(['create', 'clusterrolebinding', 'open', access, '--group=system:authenticated'])
    assert.match((await read()).stderr, /access denied|unknown/)
    const global = `system:kcp:serviceaccount:${home.cluster}:default:robot`
    await other.kubectl(['create', 'rolebinding', 'robot', '--role=reader', `--user=${global}`])
    await eventually(read, ({ code }) => code === 0)
  })

  it('lose tokens whose bound object is deleted', async () => {
    await home.kubectl(['create', 'secret', 'generic', 'bond'])
    const bound = await tokenOf(home.kubectl, '--bound-object-kind', 'Secret', '--bound-object-name', 'bond')
    await whoami(bound, '')
    await home.kubectl(['delete', 'secret', 'bond'])
    await refused(bound)
  })

  it('have tokens in secrets of their type', async () => {
    const nobodys = JSON.stringify({ ...secret, metadata: { name: 'nobodys' } })
    assert.match(
      (await home.kubectl.try(['create', '-f', '-'], nobodys)).stderr,
      /Secret "nobodys" is invalid: metadata.annotations\[kubernetes.io\/service-account.name\]: Required value/,
    )
    await apply(home.kubectl, secret)
    const read = () => home.kubectl(['get', 'secret', 'held', '-o', 'jsonpath={.data.token}'])
    const token = Buffer.from(await eventually(read, data => data !== ''), 'base64').toString()
    const user = await whoami(token, '')
    assert.deepEqual(user?.extra?.['authentication.kcp.io/cluster-name'], [home.cluster])
    assert.equal((await review(home.kubectl, token)).authenticated, true)
  })

  it('are reviewed with their tokens', async () => {
    const token = await tokenOf(home.kubectl)
    const good = await review(home.kubectl, token)
    assert.deepEqual([good.authenticated, good.audiences], [true, [issuer]])
    assert.equal(good.user?.username, 'system:serviceaccount:default:robot')
    const both = await review(home.kubectl, token, ['elsewhere', issuer])
    assert.deepEqual(both.audiences, [issuer])
    const { authenticated, error } = await review(home.kubectl, token, ['elsewhere'])
    assert.equal(authenticated, undefined)
    assert.equal(
      error,
      `[invalid bearer token, token audiences ["${issuer}"] is invalid for the target audiences ["elsewhere"]]`,
    )
    assert.deepEqual(await review(home.kubectl, 'nope'), { user: {}, error: 'invalid bearer token' })
  })

  it('get tokens for other audiences, which the server does not accept', async () => {
    const token = await tokenOf(home.kubectl, '--audience', 'elsewhere')
    await refused(token)
    assert.deepEqual((await review(home.kubectl, token, ['elsewhere'])).audiences, ['elsewhere'])
  })

  it('can be verified by other servers', async () => {
    const raw = (path: string) => home.kubectl(['get', '--raw', `/clusters/${home.path}${path}`])
    const config = JSON.parse(await raw('/.well-known/openid-configuration'))
    assert.deepEqual([config.issuer, config.response_types_supported], [issuer, ['id_token']])
    const { keys } = JSON.parse(await raw('/openid/v1/jwks'))
    const header = (await tokenOf(home.kubectl)).split('.')[0] ?? ''
    const { kid, alg } = JSON.parse(Buffer.from(header, 'base64url').toString())
    assert.deepEqual(
      [keys[0].kid, keys[0].alg, config.id_token_signing_alg_values_supported],
      [kid, alg, [alg]],
    )
    const authority = await home.kubectl([
      'config',
      'view',
      '--raw',
      '-o',
      "jsonpath={.clusters[?(@.name=='root')].cluster.certificate-authority-data}",
    ])
    const ca = Buffer.from(authority, 'base64').toString()
    const anonymous = await ask('HTTP/1.1', `${oriel.url}/clusters/${home.path}/openid/v1/jwks`, { ca })
    assert.equal(anonymous.status, 403)
  })

  it('lose all tokens when they are deleted', async () => {
    const token = await tokenOf(home.kubectl)
    await whoami(token, '')
    await home.kubectl(['delete', 'serviceaccount', 'robot'])
    await refused(token)
    await eventually(
      () => home.kubectl(['get', 'secrets', '-o', 'name']),
      names => !names.includes('held'),
    )
  })
})

/** With the flags of kcp for service accounts; with `KCP_BIN=…` against kcp. */
describe('service accounts of a server with other audiences', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let kubectl: Kubectl
  before(async () => {
    const audiences = `--api-audiences=${issuer},robots`
    oriel = await startServer([audiences, '--service-account-max-token-expiration=2h'])
    kubectl = kubectlFor(oriel, 'root')
  })
  after(() => discard(oriel))

  const tokenFor = (...more: string[]): Promise<string> => tokenOfDefault(kubectl, ...more)
  const claimsIn = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const isKnown = async (token: string): Promise<boolean> => {
    const base = [
      '--kubeconfig',
      '/dev/null',
      '--insecure-skip-tls-verify',
      '-s',
      `${oriel.url}/clusters/root`,
    ]
    return (await run('kubectl', [...base, '--token', token, 'auth', 'whoami'])).code === 0
  }

  it('have tokens for all of them, and are authenticated by any', async () => {
    const token = await tokenFor()
    assert.deepEqual(claimsIn(token).aud, [issuer, 'robots'])
    assert.ok(await isKnown(token))
    assert.ok(await isKnown(await tokenFor('--audience', 'robots')))
    assert.ok(!(await isKnown(await tokenFor('--audience', 'others'))))
  })

  it('get no token for longer, with a warning', async () => {
    await kubectl(['wait', '--for=create', '--timeout=60s', 'serviceaccount/default'])
    const path = '/clusters/root/api/v1/namespaces/default/serviceaccounts/default/token'
    const asked = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 36_000 },
    }
    const { stdout, stderr } = await kubectl.try(['create', '--raw', path, '-f', '-'], JSON.stringify(asked))
    const { spec, status } = JSON.parse(stdout)
    const { exp, iat } = claimsIn(status.token)
    assert.deepEqual([spec.expirationSeconds, exp - iat], [7200, 7200])
    assert.match(stderr, /requested expiration of 36000 seconds shortened to 7200 seconds/)
  })
})
