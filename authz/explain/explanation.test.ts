import assert from 'node:assert/strict'
import { loopback, type UserInfo } from '../../framework/request/user.ts'
import type { BoundExport } from '../chain/maximalpolicy.ts'
import {
  action,
  clusterBinding,
  clusterRole,
  createFixture,
  type Fixture,
  type FixtureOptions,
  groupNamed,
  user,
  userNamed,
} from '../testing/fixture.ts'
import type { Explanation } from './disclosure.ts'
import { createExplainer } from './explanation.ts'
import { insightInto } from './insight.ts'

const alice = user('alice', 'devs')
const admin = user('admin')
const { signal } = new AbortController()

function explaining(options: FixtureOptions = {}) {
  const fixture = createFixture(options)
  const { explain } = createExplainer({
    ...fixture,
    insight: insightInto(fixture.authorizer, fixture.sources),
    views: () => [],
  })
  fixture.put('ws', clusterBinding('cluster-admin', userNamed('admin')))
  const ask = (what: string, who: UserInfo = alice, asker = admin, cluster = 'ws'): Promise<Explanation> =>
    explain({ asker, user: who, action: action(what, cluster), signal })
  return { fixture, ask }
}

/** Makes what an explanation suggests, each object where it belongs. */
function give(fixture: Fixture, { missing }: Explanation): void {
  for (const { workspace, grant } of missing) for (const object of grant) fixture.put(workspace, object)
}

const kindsIn = ({ missing }: Explanation): readonly string[] =>
  missing.map(({ authorizer, workspace, grant }) => {
    return `${authorizer} in ${workspace}: ${grant.map(({ kind }) => kind).join(' ')}`
  })

describe('an explanation', () => {
  it('has each step, everything that is missing, and what would give it', async () => {
    const { fixture, ask } = explaining()
    const told = await ask('list core/pods ns/')
    assert.equal(told.allowed, false)
    assert.deepEqual(told.steps, [
      {
        authorizer: '01-requiredgroups',
        decision: 'NoOpinion',
        reason: 'delegating due to logical cluster does not require groups',
      },
      { authorizer: '02-content', decision: 'NoOpinion', reason: 'no verb=access permission on /' },
    ])
    assert.deepEqual(kindsIn(told), [
      '02-content in ws: ClusterRoleBinding',
      '05-local in ws: Role RoleBinding',
    ])
    const [role, binding] = told.missing.flatMap(({ grant }) => grant).slice(1)
    assert.deepEqual(role?.rules, [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }])
    assert.deepEqual(binding?.roleRef, {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'Role',
      name: role?.metadata.name,
    })
    give(fixture, told)
    assert.equal((await ask('list core/pods ns/')).allowed, true)
  })

  const robot = (home: string): UserInfo => ({
    ...user('system:serviceaccount:ns:robot'),
    extra: { 'authentication.kcp.io/cluster-name': [home] },
  })
  const cases: readonly (readonly [string, string, UserInfo])[] = [
    ['of a cluster-scoped resource', 'delete core/namespaces a', alice],
    ['of a subresource', 'update apps/deployments/scale ns/web', alice],
    ['of another group', 'patch example.com/widgets ns/a', alice],
    ['of one object', 'get core/secrets ns/only', alice],
    ['to create', 'create core/configmaps ns/', alice],
    ['of a path', 'get /metrics', alice],
    ['of odd names', 'get core/configmaps ns/a:b', { ...user('cn=Ada, o="x/y"'), uid: '7' }],
    [
      'for nobody',
      'get core/configmaps ns/a',
      { name: 'system:anonymous', groups: ['system:unauthenticated'] },
    ],
    ['for a service account at home', 'list core/pods ns/', robot('ws')],
    ['for a service account from elsewhere', 'list core/pods ns/', robot('other')],
  ]
  for (const [what, asked, who] of cases)
    it(`suggests what is enough ${what}, and no more`, async () => {
      const { fixture, ask } = explaining()
      const told = await ask(asked, who)
      assert.equal(told.allowed, false)
      for (const { metadata } of told.missing.flatMap(({ grant }) => grant))
        assert.match(metadata.name ?? '', /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
      give(fixture, told)
      assert.equal((await ask(asked, who)).allowed, true)
      for (const more of ['delete core/secrets ns/other', 'list core/secrets', 'get /debug'])
        assert.equal((await ask(more, who)).allowed, false, more)
    })

  it('says where no role can help', async () => {
    const { ask } = explaining({
      phases: { ws: 'Ready', later: 'Scheduling' },
      requiredGroups: { ws: 'staff' },
    })
    const sentences = async (...asked: Parameters<typeof ask>) =>
      (await ask(...asked)).missing.filter(({ grant }) => grant.length === 0).map(({ why }) => why)
    assert.deepEqual(await sentences('get apis.kcp.io/apiexports/status a', alice, loopback), [
      'User is not a member of required groups: staff.',
      'Apiexport status updates not permitted.',
    ])
    assert.deepEqual(await sentences('list core/pods', alice, loopback, 'later'), [
      'Not permitted due to phase "Scheduling".',
    ])
    const scoped = { ...alice, extra: { 'authentication.kcp.io/scopes': ['cluster:other'] } }
    assert.ok((await sentences('list core/pods', scoped, loopback)).some(why => /out of scope/.test(why)))
  })

  it('of what is allowed says by what', async () => {
    const { ask } = explaining()
    const told = await ask('list core/pods', admin)
    assert.deepEqual([told.allowed, told.missing], [true, []])
    assert.match(told.steps.at(-1)?.reason ?? '', /ClusterRoleBinding "cluster-admin-binding"/)
    assert.deepEqual((await ask('list core/pods', loopback)).steps.at(-1)?.reason, 'member of system:masters')
  })

  describe('for who may not ask about others', () => {
    it('of a workspace that is closed to him says as much as of one that is not there', async () => {
      const { fixture, ask } = explaining({ phases: { ws: 'Ready', later: 'Scheduling' } })
      fixture.put('ws', clusterBinding('view', userNamed('alice')))
      const nothing = { allowed: false, limited: true, steps: [], missing: [] }
      for (const cluster of ['ws', 'nowhere', 'later', 'system:admin', '*'])
        assert.deepEqual(await ask('list core/pods', alice, alice, cluster), nothing, cluster)
    })

    it('names the rule that he lacks, once he is inside', async () => {
      const { fixture, ask } = explaining()
      fixture.put('ws', clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated')))
      const told = await ask('list core/pods ns/', alice, alice)
      assert.deepEqual([told.limited, told.steps], [true, []])
      assert.deepEqual(kindsIn(told), ['05-local in ws: Role RoleBinding'])
      give(fixture, told)
      assert.equal((await ask('list core/pods ns/', alice, alice)).allowed, true)
    })

    it('is the same whatever exists', async () => {
      const { fixture, ask } = explaining()
      fixture.put('ws', clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated')))
      const before = await ask('get core/secrets ns/a', alice, alice)
      fixture.put('ws', clusterBinding('cluster-admin', userNamed('somebody'), groupNamed('secret-group')))
      fixture.put('ws', clusterBinding('secret-role', userNamed('alice')))
      assert.deepEqual(await ask('get core/secrets ns/a', alice, alice), before)
    })
  })

  describe('of a policy in another workspace', () => {
    const from: BoundExport = { path: 'root:provider', name: 'widgets', cluster: 'provider', policy: 'local' }
    const bound = {
      exports: { 'ws/example.com/widgets': [from] },
      phases: { ws: 'Ready', provider: 'Ready' },
    }
    const widgets = 'list example.com/widgets ns/'

    it('says only what the binding says, to who may not ask there', async () => {
      const { fixture, ask } = explaining(bound)
      fixture.put('provider', clusterRole('hidden', { verbs: ['get'], apiGroups: ['*'], resources: ['*'] }))
      fixture.put('provider', clusterBinding('hidden', userNamed('apis.kcp.io:binding:admin')))
      for (const what of [widgets, 'get example.com/widgets ns/a']) {
        const told = await ask(what, admin)
        assert.doesNotMatch(JSON.stringify(told), /hidden|"provider"|\\"provider\\"/)
      }
      const told = await ask(widgets, admin)
      assert.deepEqual(kindsIn(told), [
        '04-maxpermissionpolicy in root:provider: ClusterRole ClusterRoleBinding',
      ])
    })

    it('says everything to who may ask in both', async () => {
      const { fixture, ask } = explaining(bound)
      const told = await ask(widgets, admin, loopback)
      assert.equal(told.steps.at(-1)?.reason, 'API export "provider"|"widgets" policy: ')
      give(fixture, told)
      assert.equal((await ask(widgets, admin)).allowed, true)
    })
  })
})
