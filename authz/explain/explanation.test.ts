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
import { detailsFromSources } from './decisiondetails.ts'
import { createExplainer } from './explanation.ts'
import type { Explanation } from './visibility.ts'

const alice = user('alice', 'devs')
const admin = user('admin')
const { signal } = new AbortController()

function explaining(options: FixtureOptions = {}) {
  const fixture = createFixture(options)
  const { explain } = createExplainer({
    ...fixture,
    details: detailsFromSources(fixture.authorizer, fixture.sources),
    views: () => [],
  })
  fixture.put('ws', clusterBinding('cluster-admin', userNamed('admin')))
  const ask = (
    what: string,
    who: UserInfo = alice,
    requester = admin,
    cluster = 'ws',
  ): Promise<Explanation> => explain({ requester, user: who, action: action(what, cluster), signal })
  return { fixture, ask }
}

/** Creates the objects that an explanation suggests, each in its workspace. */
function give(fixture: Fixture, { missing }: Explanation): void {
  for (const { workspace, grant } of missing) for (const object of grant) fixture.put(workspace, object)
}

const kindsIn = ({ missing }: Explanation): readonly string[] =>
  missing.map(({ authorizer, workspace, grant }) => {
    return `${authorizer} in ${workspace}: ${grant.map(({ kind }) => kind).join(' ')}`
  })

describe('explanations', () => {
  it('have each step, everything that is missing, and objects that grant it', async () => {
    const { fixture, ask } = explaining()
    const explained = await ask('list core/pods ns/')
    assert.equal(explained.allowed, false)
    assert.deepEqual(explained.steps, [
      {
        authorizer: '01-requiredgroups',
        decision: 'NoOpinion',
        reason: 'delegating due to logical cluster does not require groups',
      },
      { authorizer: '02-content', decision: 'NoOpinion', reason: 'no verb=access permission on /' },
    ])
    assert.deepEqual(kindsIn(explained), [
      '02-content in ws: ClusterRoleBinding',
      '05-local in ws: Role RoleBinding',
    ])
    const [role, binding] = explained.missing.flatMap(({ grant }) => grant).slice(1)
    assert.deepEqual(role?.rules, [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }])
    assert.deepEqual(binding?.roleRef, {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'Role',
      name: role?.metadata.name,
    })
    give(fixture, explained)
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
    ['of unusual names', 'get core/configmaps ns/a:b', { ...user('cn=Ada, o="x/y"'), uid: '7' }],
    [
      'for a user without a name',
      'get core/configmaps ns/a',
      { name: 'system:anonymous', groups: ['system:unauthenticated'] },
    ],
    ['for a service account of the workspace', 'list core/pods ns/', robot('ws')],
    ['for a service account of another workspace', 'list core/pods ns/', robot('other')],
  ]
  for (const [what, asked, who] of cases)
    it(`suggest exactly the needed permission ${what}`, async () => {
      const { fixture, ask } = explaining()
      const explained = await ask(asked, who)
      assert.equal(explained.allowed, false)
      for (const { metadata } of explained.missing.flatMap(({ grant }) => grant))
        assert.match(metadata.name ?? '', /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
      give(fixture, explained)
      assert.equal((await ask(asked, who)).allowed, true)
      for (const more of ['delete core/secrets ns/other', 'list core/secrets', 'get /debug'])
        assert.equal((await ask(more, who)).allowed, false, more)
    })

  it('report conditions that no role grants', async () => {
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

  it('of allowed actions name the rule', async () => {
    const { ask } = explaining()
    const explained = await ask('list core/pods', admin)
    assert.deepEqual([explained.allowed, explained.missing], [true, []])
    assert.match(explained.steps.at(-1)?.reason ?? '', /ClusterRoleBinding "cluster-admin-binding"/)
    assert.deepEqual((await ask('list core/pods', loopback)).steps.at(-1)?.reason, 'member of system:masters')
  })

  describe('for users without permission for reviews', () => {
    it('of a workspace without access equals that of a missing one', async () => {
      const { fixture, ask } = explaining({ phases: { ws: 'Ready', later: 'Scheduling' } })
      fixture.put('ws', clusterBinding('view', userNamed('alice')))
      const nothing = { allowed: false, limited: true, steps: [], missing: [] }
      for (const cluster of ['ws', 'nowhere', 'later', 'system:admin', '*'])
        assert.deepEqual(await ask('list core/pods', alice, alice, cluster), nothing, cluster)
    })

    it('has the missing rule, with access to the workspace', async () => {
      const { fixture, ask } = explaining()
      fixture.put('ws', clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated')))
      const explained = await ask('list core/pods ns/', alice, alice)
      assert.deepEqual([explained.limited, explained.steps], [true, []])
      assert.deepEqual(kindsIn(explained), ['05-local in ws: Role RoleBinding'])
      give(fixture, explained)
      assert.equal((await ask('list core/pods ns/', alice, alice)).allowed, true)
    })

    it('does not depend on which objects exist', async () => {
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

    it('has only the names of the binding, without permission there', async () => {
      const { fixture, ask } = explaining(bound)
      fixture.put('provider', clusterRole('hidden', { verbs: ['get'], apiGroups: ['*'], resources: ['*'] }))
      fixture.put('provider', clusterBinding('hidden', userNamed('apis.kcp.io:binding:admin')))
      for (const what of [widgets, 'get example.com/widgets ns/a']) {
        const explained = await ask(what, admin)
        assert.doesNotMatch(JSON.stringify(explained), /hidden|"provider"|\\"provider\\"/)
      }
      const explained = await ask(widgets, admin)
      assert.deepEqual(kindsIn(explained), [
        '04-maxpermissionpolicy in root:provider: ClusterRole ClusterRoleBinding',
      ])
    })

    it('is complete with permission in both', async () => {
      const { fixture, ask } = explaining(bound)
      const explained = await ask(widgets, admin, loopback)
      assert.equal(explained.steps.at(-1)?.reason, 'API export "provider"|"widgets" policy: ')
      give(fixture, explained)
      assert.equal((await ask(widgets, admin)).allowed, true)
    })
  })
})
