import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { gadgets } from '../support/crds.ts'
import { discard, eventually, type Kubectl } from '../support/oriel.ts'
import { bound, clusterRole, masters, type People, startWithPeople, type Told } from '../support/people.ts'
import { type Issuer, startIssuer } from '../support/servers/issuer.ts'
import { apply, bindingOf, createWorkspaces, exportApi, type Tenant } from '../support/tenants.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const tenancy = 'tenancy.kcp.io/v1alpha1'

/** Configures the user names of an issuer. */
const jwtOf = (issuer: Issuer, prefix = 'oidc:') => ({
  issuer: { url: issuer.url, audiences: ['oriel'], certificateAuthority: issuer.ca },
  claimMappings: { username: { claim: 'email', prefix }, groups: { claim: 'groups', prefix } },
})
const configuration = (name: string, jwt: readonly object[]): KubeObject => ({
  apiVersion: tenancy,
  kind: 'WorkspaceAuthenticationConfiguration',
  metadata: { name },
  spec: { jwt },
})
const typeWith = (name: string, ...configurations: readonly string[]): KubeObject => ({
  apiVersion: tenancy,
  kind: 'WorkspaceType',
  metadata: { name },
  spec: {
    authenticationConfigurations: configurations.map(each => ({ name: each })),
    extend: { with: [{ name: 'universal', path: 'root' }] },
  },
})
const workspace = (name: string, type: string): KubeObject => ({
  apiVersion: tenancy,
  kind: 'Workspace',
  metadata: { name },
  spec: { type: { name: type, path: 'root' } },
})

/** The assertions of kcp's `test/e2e/authentication` and `test/e2e/apibinding/cross_workspace_auth_test.go`. */
describe('7.4 authentication', function () {
  this.timeout(240_000)
  let people: People
  let admin: Kubectl
  let a: Issuer
  let b: Issuer
  const at = (name: string, rest: string) => `/clusters/root:${name}${rest}`
  const in_ = (name: string): Kubectl => admin.at(`/clusters/root:${name}`)
  const clusterOf = (name: string) => admin(['get', 'workspace', name, '-o', 'jsonpath={.spec.cluster}'])

  before(async () => {
    // Both with RS256: kcp takes no other algorithm from issuers of workspaces.
    ;[a, b] = await Promise.all([startIssuer(), startIssuer()])
    people = await startWithPeople(['--issuer-allow', 'localhost'])
    admin = people.admin
    await apply(
      admin,
      ...[configuration('a', [jwtOf(a)]), configuration('b', [jwtOf(b)])],
      ...[configuration('evil', [jwtOf(a, '')])],
      ...[typeWith('with-a', 'a'), typeWith('with-b', 'b'), typeWith('with-c', 'a', 'b')],
      typeWith('with-evil', 'evil'),
    )
    const teams = ['team-a', 'team-b', 'team-c', 'team-evil']
    await apply(admin, ...teams.map(name => workspace(name, name.replace('team', 'with'))))
    const names = teams.map(name => `workspace/${name}`)
    await admin(['wait', '--for=jsonpath={.status.phase}=Ready', '--timeout=90s', ...names])
    const mail = (user: string) => `oidc:${user}@example.com`
    const developers = 'group:oidc:developers'
    await apply(in_('team-a'), bound('cluster-admin', mail('user-a'), developers))
    await apply(in_('team-b'), bound('cluster-admin', mail('user-b'), 'group:oidc:testers', developers))
    await apply(in_('team-c'), bound('cluster-admin', mail('user-c'), developers))
    await apply(in_('team-evil'), bound('cluster-admin', 'dummy@example.com'))
  })
  after(async () => {
    await discard(people.oriel)
    await Promise.all([a.stop(), b.stop()])
  })

  const tokenOf = async (issuer: Issuer, user: string, groups: readonly string[] = [], email?: string) => ({
    token: await issuer.token({ sub: user, email: email ?? `${user}@example.com`, groups }),
  })
  const mayList = async (who: Parameters<People['as']>[0], name: string): Promise<boolean> =>
    (await people.as(who)(at(name, configMaps))).status === 200

  describe('TestWorkspaceOIDC', () => {
    const rows: Readonly<Record<string, readonly ['a' | 'b', string, readonly string[], string]>> = {
      'user A is in A only': ['a', 'user-a', [], 'a'],
      'user B is in B only': ['b', 'user-b', [], 'b'],
      'user A, a developer, is in A and C': ['a', 'user-a', ['developers'], 'ac'],
      'any developer of issuer A is in A and C': ['a', 'random', ['developers'], 'ac'],
      'user C of issuer A is in C': ['a', 'user-c', [], 'c'],
      'user C of issuer B is in C': ['b', 'user-c', [], 'c'],
      'who claims groups of the system is nowhere': [
        'b',
        'hacker',
        ['system:kcp:admin', 'system:masters'],
        '',
      ],
    }
    for (const [what, [issuer, user, groups, allowed]] of Object.entries(rows))
      it(what, async () => {
        const who = await tokenOf(issuer === 'a' ? a : b, user, groups)
        // kcp contacts issuers on first use, and is ready when they have responded.
        for (const name of ['a', 'b', 'c'])
          await eventually(
            () => mayList(who, `team-${name}`),
            may => may === allowed.includes(name),
          )
      })

    it('bad tokens are refused everywhere, and owners are not affected', async () => {
      for (const name of ['team-a', 'team-b', 'team-c']) {
        assert.equal((await people.as({ token: 'invalid' })(at(name, configMaps))).status, 401)
        assert.equal(await mayList(masters, name), true)
      }
    })
  })

  it('TestUserScope: users are scoped, and cannot set extra keys of kcp', async () => {
    const extra = [
      { key: 'authentication.kcp.io/scopes', valueExpression: '"cluster:root"' },
      { key: 'kcp.io/test', valueExpression: '"a"' },
      { key: 'other.example.com/test', valueExpression: '"b"' },
    ]
    const jwt = jwtOf(a)
    const mapped = { ...jwt, claimMappings: { ...jwt.claimMappings, extra } }
    await apply(admin, configuration('scoped', [mapped]), typeWith('with-scoped', 'scoped'))
    await apply(admin, workspace('scoped', 'with-scoped'))
    await admin(['wait', '--for=jsonpath={.status.phase}=Ready', '--timeout=90s', 'workspace/scoped'])
    await apply(in_('scoped'), bound('cluster-admin', 'oidc:ann@example.com'))
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const who = await tokenOf(a, 'ann', ['devs'])
    const told = await people.post(
      who,
      at('scoped', '/apis/authentication.k8s.io/v1/selfsubjectreviews'),
      review,
    )
    const cluster = await clusterOf('scoped')
    assert.deepEqual(told.json().status, {
      userInfo: {
        username: 'oidc:ann@example.com',
        groups: ['oidc:devs', 'system:authenticated'],
        extra: {
          'authentication.kcp.io/cluster-name': [cluster],
          'authentication.kcp.io/scopes': [`cluster:${cluster}`],
          'other.example.com/test': ['b'],
        },
      },
    })
  })

  describe('TestForbiddenSystemAccess', () => {
    it('authenticates users of the workspace', async () => {
      assert.equal(await mayList(await tokenOf(a, 'dummy'), 'team-evil'), true)
    })
    for (const [what, groups, email] of [
      ['a claimed group system:kcp:admin', ['system:kcp:admin'], 'al@bundy.com'],
      ['the name of the administrator', [], 'shard-admin'],
      ['the name of the server itself', [], 'system:apiserver'],
      ['the name of a service account', [], 'system:serviceaccount:default:default'],
    ] as const)
      it(`grants nothing for ${what}`, async () => {
        assert.equal(await mayList(await tokenOf(a, 'al', groups, email), 'team-evil'), false)
      })
  })

  describe('TestAcceptableWorkspaceAuthenticationConfigurations', () => {
    const path = at('team-a', `/apis/${tenancy}/workspaceauthenticationconfigurations?dryRun=All`)
    const issuer = { url: 'https://idp.example.com' }
    const mapped = (username: object, groups: object = { expression: "'a'" }) => ({
      jwt: [{ issuer, claimMappings: { username, groups } }],
    })
    const expression = "concat('oidc:', email)"
    for (const [what, spec, problem] of [
      ['nothing', {}, /spec.jwt: Required value/],
      ['claims', mapped({ claim: 'email', prefix: '' }, { claim: 'groups', prefix: '' }), undefined],
      ['expressions, even nonsense', mapped({ expression }), undefined],
      [
        'a claim and an expression',
        mapped({ claim: 'email', expression }),
        /claim and expression cannot both be specified/,
      ],
      [
        'an expression with a prefix',
        mapped({ expression, prefix: 'a' }),
        /prefix can only be specified when claim is specified/,
      ],
      ['neither', mapped({}), /either claim or expression must be specified/],
    ] as const)
      it(`${problem === undefined ? 'takes' : 'refuses'} ${what}`, async () => {
        const object = { ...configuration('tried', []), spec }
        const told = await people.post(masters, path, object)
        assert.equal(told.status, problem === undefined ? 201 : 422, told.body)
        if (problem !== undefined) assert.match(told.json().message ?? '', problem)
      })
  })

  it('TestWorkspaceOIDCTokenReview: a workspace reviews tokens of its issuers, at the first attempt', async () => {
    const audience = 'https://kcp.default.svc'
    const { token } = await tokenOf(a, 'peter', ['developers', 'admins'])
    const review = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences: [audience] },
    }
    const told = await people.post(
      masters,
      at('team-a', '/apis/authentication.k8s.io/v1/tokenreviews'),
      review,
    )
    const cluster = await clusterOf('team-a')
    assert.deepEqual(told.json().status, {
      authenticated: true,
      audiences: [audience],
      user: {
        username: 'oidc:peter@example.com',
        groups: ['oidc:admins', 'oidc:developers', 'system:authenticated'],
        extra: {
          'authentication.kcp.io/cluster-name': [cluster],
          'authentication.kcp.io/scopes': [`cluster:${cluster}`],
        },
      },
    })
  })

  describe('7.5: users of a workspace bind exports that others offer to that workspace', () => {
    let provider: Tenant
    let name: string
    const path = at('team-a', '/apis/apis.kcp.io/v1alpha2/apibindings?dryRun=All')

    before(async () => {
      const [made] = await createWorkspaces(people.oriel, ['provider'])
      provider = made as Tenant
      name = await exportApi(provider, gadgets, [])
      const binding = {
        verbs: ['bind'],
        apiGroups: ['apis.kcp.io'],
        resources: ['apiexports'],
        resourceNames: [name],
      }
      await apply(provider.kubectl, clusterRole('bind', binding))
      const managing = ['--verb=*', '--resource=apibindings.apis.kcp.io']
      await in_('team-a')(['create', 'clusterrole', 'bindings', ...managing])
      await apply(in_('team-a'), bound('bindings', 'group:system:authenticated'))
      await apply(in_('team-a'), bound('system:kcp:workspace:access', 'group:system:authenticated'))
      await in_('team-a')(['create', 'serviceaccount', 'robot'])
    })

    const bindings: Readonly<Record<string, () => Promise<Told>>> = {
      'TestWorkspaceAuth: a user of its issuer': async () =>
        people.post(await tokenOf(a, 'zoe'), path, binding()),
      'TestServiceAccount: a service account': async () => {
        const token = (await in_('team-a')(['create', 'token', 'robot'])).trim()
        return people.post({ token }, path, binding())
      },
      'TestScopedUser: who is confined to it': () => impersonating({ 'impersonate-user': 'user-5' }),
      'TestUserWithWarrants: who has a warrant besides': async () => {
        const scope = { 'authentication.kcp.io/scopes': [`cluster:${await clusterOf('team-a')}`] }
        const warrant = { user: 'user-4', groups: ['system:authenticated'], extra: scope }
        return impersonating({
          'impersonate-user': 'user-5',
          'impersonate-extra-authorization.kcp.io%2Fwarrant': JSON.stringify(warrant),
        })
      },
    }
    const binding = () => bindingOf(provider, name, [])
    /** As a user who is scoped to the workspace. */
    const impersonating = async (headers: Record<string, string>): Promise<Told> => {
      const cluster = await clusterOf('team-a')
      const scoped = { 'impersonate-extra-authentication.kcp.io%2Fscopes': `cluster:${cluster}` }
      return people.as(masters)(path, {
        method: 'POST',
        body: JSON.stringify(binding()),
        headers: { 'content-type': 'application/json', ...scoped, ...headers },
      })
    }

    for (const [what, bindAs] of Object.entries(bindings))
      it(`${what}, with permission of the provider for that workspace`, async () => {
        const group = `system:cluster:${await clusterOf('team-a')}`
        await provider.kubectl(['delete', 'clusterrolebinding', 'bind', '--ignore-not-found'])
        const before = await bindAs()
        assert.equal(before.status, 403, before.body)
        assert.match(before.body, /no permission to bind to export/)
        await provider.kubectl([
          'create',
          'clusterrolebinding',
          'bind',
          '--clusterrole=bind',
          `--group=${group}`,
        ])
        const after = await bindAs()
        assert.equal(after.status, 201, after.body)
      })
  })
})
