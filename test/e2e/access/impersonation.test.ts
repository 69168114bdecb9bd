import assert from 'node:assert/strict'
import { join } from 'node:path'
import { certificates } from '../../support/crds.ts'
import { discard, eventually, type Kubectl, type Oriel, run } from '../../support/oriel.ts'
import { clusterRole } from '../../support/people.ts'
import { startServer } from '../../support/servers/kcp.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../../support/tenants.ts'

const isKcp = process.env.KCP_BIN !== undefined
const access = '--clusterrole=system:kcp:workspace:access'
const certificatesPath = '/apis/cert-manager.io/v1/certificates'

/** With `KCP_BIN=… npx mocha …` it runs against kcp. */
describe('kubectl --as', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let home: Tenant
  let other: Tenant
  let provider: Tenant
  let robot: string
  before(async () => {
    oriel = await startServer()
    ;[home, other, provider] = (await createWorkspaces(oriel, ['home', 'other', 'provider'])) as [
      Tenant,
      Tenant,
      Tenant,
    ]
    for (const { kubectl } of [home, other])
      await kubectl(['create', 'clusterrolebinding', 'open', access, '--group=system:authenticated'])
    await home.kubectl(['create', 'clusterrolebinding', 'bob', '--clusterrole=view', '--user=bob'])
    await home.kubectl(['create', 'serviceaccount', 'robot'])
    const only = ['--verb=impersonate', '--resource=users', '--resource-name=bob']
    await home.kubectl(['create', 'clusterrole', 'bob', ...only])
    await home.kubectl([
      'create',
      'clusterrolebinding',
      'robot',
      '--clusterrole=bob',
      '--serviceaccount=default:robot',
    ])
    robot = (await home.kubectl(['create', 'token', 'robot'])).trim()
  })
  after(() => discard(oriel))

  const asRobot = (args: readonly string[]) => {
    const base = [
      '--kubeconfig',
      '/dev/null',
      '--insecure-skip-tls-verify',
      '-s',
      `${oriel.url}/clusters/${home.path}`,
    ]
    const env = { KUBECACHEDIR: join(oriel.directory, 'cache-of-robot') }
    return run('kubectl', [...base, '--token', robot, ...args], { env })
  }
  const whoami = async (kubectl: Kubectl, ...as: string[]) => {
    const review = await kubectl.json<{ status: { userInfo: object } }>(['auth', 'whoami', ...as])
    return review.status.userInfo
  }

  it('acts with the permissions of the other user', async () => {
    const as = ['--as', 'bob']
    const read = () => home.kubectl.try(['get', 'configmaps', '-o', 'name', ...as])
    assert.match((await eventually(read, ({ code }) => code === 0)).stdout, /kube-root-ca/)
    const { stderr } = await home.kubectl.try(['get', 'secrets', ...as])
    assert.match(
      stderr,
      /User "bob" cannot list resource "secrets" in API group "" in the namespace "default"/,
    )
    assert.match((await home.kubectl.try(['auth', 'can-i', 'list', 'configmaps', ...as])).stdout, /^yes/)
    assert.match((await home.kubectl.try(['auth', 'can-i', 'list', 'secrets', ...as])).stdout, /^no/)
    assert.match(
      (await home.kubectl.try(['auth', 'can-i', 'list', 'configmaps', '--as', 'eve'])).stdout,
      /^no/,
    )
  })

  it('is scoped to the workspace in which it was allowed', async () => {
    assert.deepEqual(await whoami(home.kubectl, '--as', 'bob', '--as-group', 'devs', '--as-uid', '7'), {
      username: 'bob',
      uid: '7',
      groups: ['devs', 'system:authenticated'],
      extra: { 'authentication.kcp.io/scopes': [`cluster:${home.cluster}`] },
    })
    assert.deepEqual(await whoami(other.kubectl, '--as', 'system:serviceaccount:default:robot'), {
      username: 'system:serviceaccount:default:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: { 'authentication.kcp.io/scopes': [`cluster:${other.cluster}`] },
    })
  })

  it('requires permission for the impersonated user', async () => {
    const read = () => asRobot(['get', 'configmaps', '-o', 'name', '--as', 'bob'])
    await eventually(read, ({ code }) => code === 0)
    for (const more of [['eve'], ['bob', '--as-group', 'devs'], ['bob', '--as-uid', '7']]) {
      const { code, stderr } = await asRobot(['get', 'configmaps', '--as', ...more])
      assert.equal(code, 1)
      // kcp names the mode that it tried first: the one that succeeded the last time.
      const mode = isKcp
        ? /cannot impersonate/
        : /configmaps is forbidden: .* cannot impersonate-on:user-info:list/
      assert.match(stderr, mode)
    }
  })

  it('may be allowed for one user and one kind of request', async () => {
    const eve = { verbs: ['impersonate:user-info'], resourceNames: ['eve'] }
    const lists = { verbs: ['impersonate-on:user-info:list'], resources: ['configmaps', 'secrets'] }
    await apply(
      home.kubectl,
      clusterRole('as-eve', { ...eve, apiGroups: ['authentication.k8s.io'], resources: ['users'] }),
      clusterRole('lists', { ...lists, apiGroups: [''] }),
    )
    const give = (name: string) =>
      home.kubectl([
        'create',
        'clusterrolebinding',
        name,
        `--clusterrole=${name}`,
        '--serviceaccount=default:robot',
      ])
    await home.kubectl(['create', 'clusterrolebinding', 'eve', '--clusterrole=view', '--user=eve'])
    for (const name of ['as-eve', 'lists']) await give(name)
    const list = (what: string) => asRobot(['get', what, '-o', 'name', '--as', 'eve'])
    await eventually(
      () => list('configmaps'),
      ({ code }) => code === 0,
    )
    assert.match((await list('secrets')).stderr, /User "eve" cannot list resource "secrets"/)
    assert.match(
      (await list('serviceaccounts')).stderr,
      /cannot impersonate-on:user-info:list resource "serviceaccounts"/,
    )
  })

  it('refuses groups of kcp to users who are not members', async () => {
    for (const group of ['system:masters', 'system:kcp:logical-cluster-admin']) {
      const { code, stderr } = await home.kubectl.try([
        'get',
        'configmaps',
        '--as',
        'bob',
        '--as-group',
        group,
      ])
      assert.equal(code, 1)
      assert.match(stderr, /impersonation is not allowed for the requestor/)
    }
  })

  it('uses the policy of the logical cluster inside a view, and is refused across all clusters', async () => {
    const name = await exportApi(provider, certificates(), [])
    await bind(home, bindingOf(provider, name, []))
    const url = await publishedUrl(provider, name)
    const may = ['--verb=*', '--resource=apiexports/content']
    await provider.kubectl(['create', 'clusterrole', 'content', ...may])
    await provider.kubectl(['create', 'clusterrolebinding', 'content', '--clusterrole=content', '--user=bob'])
    const get = async (cluster: string, kubectl = home.kubectl) => {
      const path = `${new URL(url).pathname}/clusters/${cluster}${certificatesPath}`
      return (await kubectl.at('').try(['get', '--raw', path, '--as', 'bob'])).stderr
    }
    assert.match(await get('*'), isKcp ? /./ : /impersonation is not allowed for the requestor/)
    // Bob is scoped to the consumer's cluster, and so has no content permission in the provider's.
    assert.match(await get(home.cluster), /access denied|Forbidden/)
  })
})
