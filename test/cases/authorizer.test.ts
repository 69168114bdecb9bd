import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { discard, eventually, type Kubectl, kubectlFor } from '../support/oriel.ts'
import { bound, clusterRole, masters, type People, startWithPeople } from '../support/people.ts'
import { apply, createWorkspaces } from '../support/tenants.ts'

const secrets = '/api/v1/namespaces/default/secrets'
const configMaps = '/api/v1/namespaces/default/configmaps'
const namespaces = '/api/v1/namespaces'
const access = 'system:kcp:workspace:access'
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const workspace = (name: string) => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
})
const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }

interface Rules {
  readonly resourceRules: readonly object[]
  readonly nonResourceRules: readonly object[]
  readonly incomplete: boolean
}

const hasRule = ({ resourceRules }: Rules, rule: object): boolean =>
  resourceRules.some(each => isDeepStrictEqual(each, rule))

/** What kcp's end-to-end tests of its authorizers assert: chapter 30, section 7.1, line by line. */
describe('7.1 authorizer', function () {
  this.timeout(240_000)
  let people: People
  let admin: Kubectl
  const at = (path: string, rest = '') => `/clusters/root:${path}${rest}`
  const statusOf = async (who: string | undefined, path: string): Promise<number> =>
    (await people.as(who)(path)).status
  const isReady = (kubectl: Kubectl, ...names: string[]) =>
    kubectl([
      'wait',
      '--for=jsonpath={.status.phase}=Ready',
      '--timeout=90s',
      ...names.map(n => `workspace/${n}`),
    ])

  before(async () => {
    people = await startWithPeople()
    admin = people.admin
    await createWorkspaces(people.oriel, ['org1', 'org2'])
    for (const org of ['org1', 'org2']) {
      const inOrg = admin.at(at(org))
      await apply(inOrg, workspace('workspace1'), workspace('workspace2'))
      await isReady(inOrg, 'workspace1', 'workspace2')
      await apply(admin.at(at(`${org}:workspace1`)), bound('cluster-admin', 'user-1'))
      await apply(admin.at(at(`${org}:workspace2`)), bound('cluster-admin', 'user-2'))
      await apply(inOrg, bound(access, 'user-1', 'user-2', 'user-3'))
    }
    const required = 'authorization.kcp.io/required-groups=empty-group'
    for (const path of ['org2', 'org2:workspace1'])
      await admin.at(at(path))(['annotate', 'logicalclusters.core.kcp.io/cluster', required])
  })
  after(() => discard(people.oriel))

  describe('TestAuthorizer', () => {
    it('lets the admin of a workspace list config maps and make namespaces and config maps', async () => {
      assert.equal(await statusOf('user-1', at('org1:workspace1', configMaps)), 200)
      const made = await people.post('user-1', at('org1:workspace1', namespaces), namespace('test'))
      assert.equal(made.status, 201, made.body)
      const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made' } }
      assert.equal((await people.post('user-1', at('org1:workspace1', configMaps), configMap)).status, 201)
    })

    it('lets others do there what a local role says', async () => {
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' }
      const inside = admin.at(at('org1:workspace1'))
      await apply(inside, bound(access, 'user-2'), {
        ...role,
        metadata: { name: 'secrets', namespace: 'default' },
        rules: [{ verbs: ['list'], apiGroups: [''], resources: ['secrets'] }],
      })
      await inside(['create', 'rolebinding', 'secrets', '--role=secrets', '--user=user-2'])
      assert.equal(await statusOf('user-2', at('org1:workspace1', secrets)), 200)
      const refused = await people.post('user-2', at('org1:workspace1', namespaces), namespace('no'))
      assert.equal(refused.status, 403)
    })

    it('tells everybody about health, and about the version whoever may be there', async () => {
      for (const path of ['/healthz', '/readyz', '/livez'])
        assert.equal((await people.as('user-1')(at('org1', path))).body, 'ok')
      const version = await people.as('user-1')(at('org1', '/version'))
      assert.match(version.json<{ gitVersion: string }>().gitVersion, /^v\d/)
    })

    it('closes a workspace to who is not in the groups that it requires, though an admin of it', async () => {
      for (const path of [secrets, '/apis/rbac.authorization.k8s.io/v1'])
        assert.equal(await statusOf('user-1', at('org2:workspace1', path)), 403, path)
    })

    it('closes other workspaces, discovery included', async () => {
      for (const path of [secrets, '/apis/rbac.authorization.k8s.io/v1'])
        assert.equal(await statusOf('user-1', at('org1:workspace2', path)), 403, path)
      assert.equal(await statusOf('user-2', at('org1:workspace2', secrets)), 200)
    })

    it('opens all clusters at once to system:masters', async () => {
      assert.equal(await statusOf(masters, `/clusters/*${namespaces}`), 200)
      assert.equal(await statusOf('user-1', `/clusters/*${namespaces}`), 403)
    })

    it('finds roles of system:admin by bindings in a workspace', async () => {
      const system = kubectlFor(people.oriel, 'shard-base').at('/clusters/system:admin')
      const rule = { verbs: ['create'], apiGroups: [''], resources: ['namespaces'] }
      await apply(system, clusterRole('namespace-maker', rule))
      const make = (name: string) => people.post('user-3', at('org1:workspace2', namespaces), namespace(name))
      assert.equal((await make('before')).status, 403)
      await apply(
        admin.at(at('org1:workspace2')),
        bound(access, 'user-3'),
        bound('namespace-maker', 'user-3'),
      )
      assert.equal((await make('after')).status, 201)
    })

    it('answers deep reviews by RBAC alone, to system:masters', async () => {
      const resourceAttributes = { verb: 'list', version: 'v1', resource: 'configmaps', namespace: 'default' }
      const review = (path: string, who: string, headers = {}) =>
        people.as(who)(`${path}/apis/authorization.k8s.io/v1/subjectaccessreviews`, {
          method: 'POST',
          body: JSON.stringify({
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SubjectAccessReview',
            spec: { user: 'user-1', groups: ['system:authenticated'], resourceAttributes },
          }),
          headers: { 'content-type': 'application/json', ...headers },
        })
      const closed = await review(at('org2:workspace1'), masters)
      assert.deepEqual(closed.json().status, { allowed: false, denied: true, reason: 'access denied' })
      assert.equal((await review(at('org1:workspace1'), masters)).json().status?.allowed, true)
      const deep = { 'x-kcp-internal-deep-subjectaccessreview': 'true' }
      assert.equal((await review(at('org2:workspace1'), masters, deep)).json().status?.allowed, true)
    })

    it('lists the rules of who has access, and roles of system:admin among them', async () => {
      const rules = () => rulesOf(at('org1:workspace2'), { user: 'user-4' })
      assert.equal((await askRules(at('org1:workspace2'), { user: 'user-4' })).status, 403)
      await apply(admin.at(at('org1:workspace2')), bound(access, 'user-4'))
      const own = await rules()
      assert.deepEqual([own.resourceRules.length, own.nonResourceRules.length, own.incomplete], [2, 3, false])
      await apply(admin.at(at('org1:workspace2')), bound('namespace-maker', 'user-4'))
      const rule = { apiGroups: [''], resources: ['namespaces'], verbs: ['create'] }
      assert.ok(hasRule(await rules(), rule))
    })
  })

  interface Reviewed {
    readonly user: string
    readonly groups?: readonly string[]
    readonly extra?: Readonly<Record<string, string>>
  }

  const askRules = (path: string, { user, groups = [], extra = {} }: Reviewed) =>
    people.as(masters)(`${path}/apis/authorization.k8s.io/v1/selfsubjectrulesreviews`, {
      method: 'POST',
      body: JSON.stringify({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectRulesReview',
        spec: { namespace: 'default' },
      }),
      headers: {
        'content-type': 'application/json',
        'impersonate-user': user,
        'impersonate-group': ['system:authenticated', ...groups],
        ...Object.fromEntries(
          Object.entries(extra).map(([key, value]) => [
            `impersonate-extra-${encodeURIComponent(key)}`,
            value,
          ]),
        ),
      },
    })

  async function rulesOf(path: string, reviewed: Reviewed): Promise<Rules> {
    const told = await askRules(path, reviewed)
    assert.equal(told.status, 201, told.body)
    return told.json<{ status: Rules }>().status
  }

  describe('TestSelfSubjectRulesReview', () => {
    const robot = 'system:serviceaccount:default:default'
    const home = 'authentication.kcp.io/cluster-name'
    const scopes = 'authentication.kcp.io/scopes'
    const warrant = { 'authorization.kcp.io/warrant': '{"user":"x","groups":["system:kcp:admin"]}' }
    const groups = ['system:kcp:admin']
    const rows: Readonly<Record<string, readonly [boolean, (here: string) => Reviewed]>> = {
      'a user': [true, () => ({ user: 'user-5', groups })],
      'a user in scope': [true, here => ({ user: 'user-5', groups, extra: { [scopes]: `cluster:${here}` } })],
      'a service account': [true, () => ({ user: robot, groups })],
      'a local service account': [true, here => ({ user: robot, groups, extra: { [home]: here } })],
      'a foreign one with a warrant': [true, () => ({ user: robot, extra: { [home]: 'other', ...warrant } })],
      'a user out of scope': [false, () => ({ user: 'user-5', groups, extra: { [scopes]: 'cluster:root' } })],
      'a foreign service account': [false, () => ({ user: robot, groups, extra: { [home]: 'other' } })],
      'an administrator scoped elsewhere': [
        false,
        () => ({ user: 'kcp-admin', groups, extra: { [scopes]: 'cluster:other' } }),
      ],
      'a local service account scoped elsewhere': [
        false,
        here => ({ user: robot, groups, extra: { [home]: here, [scopes]: 'cluster:other' } }),
      ],
    }
    let here = ''
    before(async () => {
      here = await admin(['get', 'workspace', 'org1', '-o', 'jsonpath={.spec.cluster}'])
      assert.equal(
        (await askRules(at('org1'), rows['a user out of scope']?.[1](here) as Reviewed)).status,
        403,
      )
      await apply(admin.at(at('org1')), bound(access, 'group:system:authenticated'))
    })
    for (const [what, [all, reviewed]] of Object.entries(rows))
      it(`lists ${all ? 'everything' : 'what everybody may'} for ${what}`, async () => {
        const rules = await rulesOf(at('org1'), reviewed(here))
        const text = JSON.stringify(rules)
        assert.equal(hasRule(rules, everything), all, text)
        assert.match(text, /"selfsubjectrulesreviews"/)
      })
  })

  it('TestWorkspaces: everybody who may be in an organization sees its workspaces, and is in none of them', async () => {
    await apply(admin.at(at('org1')), bound('cluster-admin', 'user-5'))
    const made = await people.post(
      'user-5',
      at('org1', '/apis/tenancy.kcp.io/v1alpha1/workspaces'),
      workspace('mine'),
    )
    assert.equal(made.status, 201, made.body)
    await isReady(admin.at(at('org1')), 'mine')
    await apply(admin.at(at('org1')), bound('system:kcp:tenancy:reader', 'user-1', 'user-2'))
    for (const user of ['user-1', 'user-2', 'user-5']) {
      const list = await people.as(user)(at('org1', '/apis/tenancy.kcp.io/v1alpha1/workspaces'))
      assert.ok(
        list.json().items?.some(({ metadata }) => metadata.name === 'mine'),
        user,
      )
    }
    assert.equal(await statusOf('user-5', at('org1:mine', configMaps)), 200)
    const nested = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
    assert.equal((await people.post('user-5', at('org1:mine', nested), workspace('nested'))).status, 201)
    assert.equal(await statusOf('user-2', at('org1:mine', configMaps)), 403)
    await apply(admin.at(at('org1:mine')), bound('cluster-admin', 'user-2'))
    assert.equal(await statusOf('user-2', at('org1:mine', configMaps)), 200)
  })

  it('TestImpersonation: statuses of workspaces are nobody’s, and impersonation does not help', async () => {
    const path = at('org1', '/apis/tenancy.kcp.io/v1alpha1/workspaces/workspace1/status')
    const patch = (headers: Record<string, string>) =>
      people.as('user-5')(path, {
        method: 'PATCH',
        body: '{"status":{"phase":"Unavailable"}}',
        headers: { 'content-type': 'application/merge-patch+json', ...headers },
      })
    assert.equal((await patch({})).status, 403)
    const masked = { 'impersonate-user': 'user-5', 'impersonate-group': 'system:masters' }
    assert.equal((await patch(masked)).status, 403)
  })

  it('TestImpersonateScoping: whoever is impersonated is confined to the workspace', async () => {
    const here = await admin(['get', 'workspace', 'org1', '-o', 'jsonpath={.spec.cluster}'])
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const told = await people.as('user-5')(at('org1', '/apis/authentication.k8s.io/v1/selfsubjectreviews'), {
      method: 'POST',
      body: JSON.stringify(review),
      headers: {
        'content-type': 'application/json',
        'impersonate-user': 'user-5',
        'impersonate-group': 'elephant',
      },
    })
    const { userInfo } = told.json<{ status: { userInfo: { extra: Record<string, string[]> } } }>().status
    assert.deepEqual(userInfo.extra['authentication.kcp.io/scopes'], [`cluster:${here}`])
  })

  it('TestRootCACertConfigmap: every namespace gets the authority of the server', async () => {
    await apply(admin.at(at('org1:workspace1')), namespace('new'))
    const path = at('org1:workspace1', '/api/v1/namespaces/new/configmaps/kube-root-ca.crt')
    const told = await eventually(
      () => people.as('user-1')(path),
      ({ status }) => status === 200,
    )
    assert.match(told.json<{ data: Record<string, string> }>().data['ca.crt'] ?? '', /BEGIN CERTIFICATE/)
  })

  it('TestShardMetricsEndpoint: metrics are the shard’s, for whom root lets read them', async () => {
    const path = at('org1', '/metrics')
    const reading = clusterRole('metrics', { verbs: ['get'], nonResourceURLs: ['/metrics'] })
    await apply(admin.at(at('org1')), reading, bound('metrics', 'user-3'))
    for (const who of ['user-3', masters]) {
      const told = await people.as(who)(path)
      assert.equal(told.status, 501, who)
      assert.match(told.body, /shard-level endpoint not available at workspace scope/)
    }
    assert.equal(await statusOf('user-3', '/metrics'), 403)
    await apply(admin, bound('system:kcp:metrics-reader', 'user-3'))
    for (const who of ['user-3', masters]) assert.equal(await statusOf(who, '/metrics'), 200, who)
  })

  for (const kind of ['bound', 'legacy'] as const)
    describe(`TestServiceAccounts, with a ${kind} token`, () => {
      const own = `org1:workspace${kind === 'bound' ? 1 : 2}`
      const other = `org1:workspace${kind === 'bound' ? 2 : 1}`
      const ns = `robots-${kind}`
      let token = ''
      before(async () => {
        const inside = admin.at(at(own))
        await apply(inside, namespace(ns))
        await admin.at(at(other))(['create', 'namespace', ns])
        await inside(['create', 'serviceaccount', 'robot', '-n', ns])
        token = kind === 'bound' ? await boundToken(inside) : await legacyToken(inside)
        await inside(['create', 'role', 'all', '--verb=*', '--resource=configmaps', '-n', ns])
        const robot = `--serviceaccount=${ns}:robot`
        await inside(['create', 'rolebinding', 'all', '--role=all', robot, '-n', ns])
      })
      const boundToken = async (kubectl: Kubectl): Promise<string> => {
        await kubectl(['create', 'secret', 'generic', 'anchor', '-n', ns])
        const anchor = ['--bound-object-kind=Secret', '--bound-object-name=anchor']
        const audience = '--audience=https://kcp.default.svc'
        return (await kubectl(['create', 'token', 'robot', '-n', ns, audience, ...anchor])).trim()
      }
      const legacyToken = async (kubectl: Kubectl): Promise<string> => {
        const annotations = { 'kubernetes.io/service-account.name': 'robot' }
        const type = 'kubernetes.io/service-account-token'
        const metadata = { name: 'token', namespace: ns, annotations }
        await apply(kubectl, { apiVersion: 'v1', kind: 'Secret', type, metadata })
        const read = ['get', 'secret', 'token', '-n', ns, '-o', 'jsonpath={.data.token}']
        const data = await eventually(
          () => kubectl(read),
          text => text !== '',
        )
        return Buffer.from(data, 'base64').toString()
      }
      const robots = `/api/v1/namespaces/${ns}/configmaps`
      const status = async (path: string): Promise<number> => (await people.as({ token })(path)).status

      it('is known in its workspace, also when it does not name it', async () => {
        assert.equal(await status(at(own, robots)), 200)
        assert.equal(await status(robots), 200)
      })

      it('is a stranger in a namespace of the same name elsewhere, until everybody is let in', async () => {
        assert.equal(await status(at(other, robots)), 403)
        const read = { verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }
        const inOther = admin.at(at(other))
        await apply(inOther, clusterRole('read', read), bound('read', 'group:system:serviceaccounts'))
        await apply(inOther, bound(access, 'group:system:authenticated'))
        assert.equal(await status(at(other, robots)), 403)
        await apply(inOther, bound('read', 'group:system:authenticated'))
        assert.equal(await status(at(other, robots)), 200)
        assert.equal(await status(at('org2:workspace2', robots)), 403)
      })

      it('passes on what it has, and with "escalate" more', async () => {
        const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`
        const role = (name: string, resource: string) => ({
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name, namespace: ns },
          rules: [{ verbs: ['get'], apiGroups: [''], resources: [resource] }],
        })
        const inside = admin.at(at(own))
        const robot = `--serviceaccount=${ns}:robot`
        const may = ['create', 'role', 'roles', '--verb=create,get', '--resource=roles']
        await inside([...may, '-n', ns])
        await inside(['create', 'rolebinding', 'roles', '--role=roles', robot, '-n', ns])
        const make = async (name: string, resource: string): Promise<number> =>
          (await people.post({ token }, at(own, roles), role(name, resource))).status
        assert.equal(await make('held', 'configmaps'), 201)
        assert.equal(await make('more', 'secrets'), 403)
        await inside(['create', 'role', 'up', '--verb=escalate', '--resource=roles', '-n', ns])
        await inside(['create', 'rolebinding', 'up', '--role=up', robot, '-n', ns])
        assert.equal(await make('more', 'secrets'), 201)
      })
    })
})
