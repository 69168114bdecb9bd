import assert from 'node:assert/strict'
import { allow, deny, noOpinion } from '../../framework/contract/authorizer.ts'
import { loopback, type UserInfo } from '../../framework/request/user.ts'
import {
  action,
  clusterBinding,
  clusterRole,
  createFixture,
  type Fixture,
  groupNamed,
  user,
  userNamed,
} from '../testing/fixture.ts'
import { createAuthorizer } from './authorizer.ts'
import type { BoundExport } from './maximalpolicy.ts'

const alice = user('alice', 'devs')
const { signal } = new AbortController()
const access = clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated'))

/** `<authorizer> <effect>: <reason>` of each step of the trace. */
async function traceOf(fixture: Fixture, who: UserInfo, what: string, more: object = {}): Promise<string[]> {
  const { trace } = await fixture.decide(who, { ...action(what), ...more })
  return (trace ?? []).map(({ authorizer, effect, reason }) => `${authorizer} ${effect}: ${reason}`)
}

describe('the chain', () => {
  it('records the decision of every step, as kcp does in its audit annotations', async () => {
    const fixture = createFixture()
    fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
    assert.deepEqual(await traceOf(fixture, alice, 'create apis.kcp.io/apibindings'), [
      '01-requiredgroups allow: delegating due to logical cluster does not require groups',
      '02-content allow: delegating due to user logical cluster access',
      '03-systemcrd allow: delegating due to no system CRD violation',
      '04-maxpermissionpolicy allow: delegating due to no relevant binding found',
      '05-bootstrap no opinion: bootstrap policy: ',
      '05-local allow: local cluster "ws" policy: RBAC: allowed by ClusterRoleBinding "cluster-admin-binding" of ClusterRole "cluster-admin" to User "alice"',
    ])
    assert.deepEqual(await traceOf(fixture, alice, 'get apis.kcp.io/apibindings/status a'), [
      '01-requiredgroups deny: delegating due to logical cluster does not require groups',
      '02-content deny: delegating due to user logical cluster access',
      '03-systemcrd deny: apibinding status updates not permitted',
    ])
  })

  it('names missing roles of bindings', async () => {
    const fixture = createFixture()
    fixture.put('ws', access)
    fixture.put('ws', clusterBinding('missing', userNamed('alice')))
    assert.equal(
      (await traceOf(fixture, alice, 'list core/pods')).at(-1),
      '05-local no opinion: local cluster "ws" policy: RBAC: clusterrole.rbac.authorization.k8s.io "missing" not found',
    )
  })

  describe('required groups', () => {
    const required = (annotation: string) => createFixture({ requiredGroups: { ws: annotation } })
    const member = (...groups: string[]) => ({ ...user('carol', ...groups), groups })

    for (const [annotation, groups, inside] of [
      ['a', ['a'], true],
      ['a', ['b'], false],
      ['a,b', ['a'], false],
      ['a,b', ['b', 'a'], true],
      ['a,b;c', ['c'], true],
      ['a;', ['b'], false],
      ['', ['a'], false],
      ['a, b', ['a', 'b'], false],
      ['a', ['system:kcp:admin'], true],
      ['a', ['system:kcp:tenancy:workspace-bootstrapper'], true],
      ['a', ['system:kcp:external-logical-cluster-admin'], true],
      ['a', ['system:kcp:logical-cluster-admin'], true],
    ] as const)
      it(`${JSON.stringify(annotation)} ${inside ? 'admit' : 'keep out'} ${groups}`, async () => {
        const fixture = required(annotation)
        fixture.put('ws', clusterBinding('cluster-admin', userNamed('carol')))
        const decision = await fixture.decide(member(...groups), action('list core/pods'))
        assert.equal(decision.effect, inside ? 'allow' : 'deny')
        const reason = `user is not a member of required groups: ${annotation}`
        if (!inside) assert.equal(decision.trace?.at(-1)?.reason, reason)
      })

    it('apply to service accounts of other workspaces only', async () => {
      const fixture = required('a')
      const robot = 'system:serviceaccount:ns:robot'
      fixture.put('ws', clusterBinding('cluster-admin', userNamed(robot), groupNamed('system:authenticated')))
      const from = (cluster: string) => ({
        ...user(robot),
        extra: { 'authentication.kcp.io/cluster-name': [cluster] },
      })
      assert.ok(await fixture.allows(from('ws'), action('list core/pods')))
      assert.ok(!(await fixture.allows(from('other'), action('list core/pods'))))
    })

    it('may come from warrants', async () => {
      const fixture = required('a')
      fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
      const warranted = { ...alice, extra: { 'authorization.kcp.io/warrant': ['{"groups":["a"]}'] } }
      assert.ok(await fixture.allows(warranted, action('list core/pods')))
    })
  })

  describe('lifecycle groups', () => {
    const marked = user('controller', 'system:kcp:initializer:root:universal')
    for (const [phase, open] of [
      ['Initializing', true],
      ['Terminating', true],
      ['Deleting', true],
      ['Ready', false],
      ['Inactive', false],
      ['Scheduling', false],
    ] as const)
      it(`${open ? 'open' : 'do not open'} a workspace in phase ${phase}`, async () => {
        const fixture = createFixture({ phases: { ws: phase } })
        assert.equal(await fixture.allows(marked, action('list core/secrets')), open)
        const warranted = {
          ...alice,
          extra: { 'authorization.kcp.io/warrant': [JSON.stringify({ groups: marked.groups })] },
        }
        assert.ok(!(await fixture.allows(warranted, action('list core/secrets'))))
      })
  })

  describe('maximal permission policies', () => {
    const bound = (policy: BoundExport['policy'], more: object = {}) => {
      const from = { path: 'root:provider', name: 'widgets', cluster: 'provider', policy, ...more }
      const fixture = createFixture({ exports: { 'ws/example.com/widgets': [from] } })
      fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
      return fixture
    }
    const widgets = 'list example.com/widgets ns/'
    const write = { verbs: ['list', 'create'], apiGroups: ['example.com'], resources: ['widgets'] }

    it('limit administrators, too', async () => {
      const fixture = bound('local')
      assert.ok(!(await fixture.allows(alice, action(widgets))))
      fixture.put('provider', clusterRole('most', write))
      fixture.put('provider', clusterBinding('most', userNamed('alice')))
      assert.ok(!(await fixture.allows(alice, action(widgets))))
      fixture.put('provider', clusterBinding('most', groupNamed('apis.kcp.io:binding:devs')))
      assert.ok(await fixture.allows(alice, action(widgets)))
      assert.ok(!(await fixture.allows(alice, action('delete example.com/widgets ns/a'))))
      assert.ok(await fixture.allows(alice, action('delete core/secrets ns/a')))
      const trace = await traceOf(fixture, alice, 'delete example.com/widgets ns/a')
      assert.equal(
        trace.at(-1),
        '04-maxpermissionpolicy no opinion: API export "provider"|"widgets" policy: ',
      )
    })

    it('grant nothing themselves', async () => {
      const fixture = bound('local')
      fixture.put('provider', clusterRole('most', write))
      fixture.put('provider', clusterBinding('most', groupNamed('apis.kcp.io:binding:system:authenticated')))
      fixture.put('ws', access)
      assert.ok(!(await fixture.allows(user('bob'), action(widgets))))
    })

    it('use the global names of service accounts', async () => {
      const fixture = bound('local')
      const robot = {
        ...user('system:serviceaccount:ns:robot'),
        extra: { 'authentication.kcp.io/cluster-name': ['ws'] },
      }
      fixture.put('ws', clusterBinding('cluster-admin', userNamed(robot.name)))
      fixture.put('provider', clusterRole('most', write))
      fixture.put(
        'provider',
        clusterBinding('most', userNamed('apis.kcp.io:binding:system:kcp:serviceaccount:ws:ns:robot')),
      )
      assert.ok(await fixture.allows(robot, action(widgets)))
    })

    for (const [what, fixture, why] of [
      ['without a policy', bound('none'), 'no maximum permission policy in API Export "provider"|"widgets"'],
      [
        'without a local policy',
        bound('empty'),
        'no local maximum permission policy in API Export "provider"|"widgets"',
      ],
      [
        'that was deleted',
        bound('none', { cluster: undefined }),
        'APIExport "root:provider":"widgets" not found',
      ],
    ] as const)
      it(`do not exist for an export ${what}`, async () => {
        const trace = await traceOf(fixture, alice, widgets)
        assert.equal(trace[3], `04-maxpermissionpolicy allow: delegating due to ${why}`)
      })
  })

  describe('deep reviews', () => {
    it('evaluate RBAC only', async () => {
      const fixture = createFixture({ phases: { ws: 'Ready' }, requiredGroups: { ws: 'never' } })
      fixture.put('ws', clusterBinding('view', userNamed('alice')))
      const pods = action('list core/pods')
      assert.ok(!(await fixture.allows(alice, pods)))
      assert.ok(await fixture.allows(alice, { ...pods, deep: true }))
      assert.ok(!(await fixture.allows(alice, { ...action('delete core/pods a/b'), deep: true })))
      assert.ok(await fixture.allows(alice, { ...pods, deep: true, cluster: 'ws' }))
    })

    it('do not apply to system clusters, statuses of kcp and reviews', async () => {
      const fixture = createFixture({ requiredGroups: { ws: 'never' } })
      fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
      for (const what of [
        'get apis.kcp.io/apiexports/status a',
        'create authorization.k8s.io/subjectaccessreviews',
      ])
        assert.ok(!(await fixture.allows(alice, { ...action(what), deep: true })), what)
      assert.ok(!(await fixture.allows(alice, { ...action('list core/pods', 'system:admin'), deep: true })))
    })
  })

  describe('orders', () => {
    const { sources } = createFixture()
    const asked: string[] = []
    const hook = (decision = deny('closed today', 'webhook')) => ({
      authorize: async (who: UserInfo) => {
        asked.push(who.name)
        return decision
      },
    })
    const decide = async (
      options: Partial<Parameters<typeof createAuthorizer>[0]>,
      who: UserInfo,
      what: string,
    ) => (await createAuthorizer({ ...sources, ...options }).authorize(who, action(what), signal)).effect

    it('call a webhook last by default, and never for system:masters', async () => {
      asked.length = 0
      const admin = user('kcp-admin', 'system:kcp:admin')
      assert.equal(await decide({ webhook: hook() }, admin, 'list core/pods'), 'allow')
      assert.equal(await decide({ webhook: hook() }, alice, 'get /healthz'), 'allow')
      assert.deepEqual(asked, [])
      assert.equal(await decide({ webhook: hook() }, alice, 'list core/pods'), 'deny')
      assert.equal(await decide({ webhook: hook(allow('ok')) }, alice, 'list core/pods'), 'allow')
      assert.deepEqual(asked, ['alice', 'alice'])
      const first = { webhook: hook(), order: ['Webhook', 'AlwaysAllowGroups'] as const }
      assert.equal(await decide(first, loopback, 'list core/pods'), 'allow')
      assert.deepEqual(asked, ['alice', 'alice'])
    })

    it('keep the reasons of all authorizers without an opinion', async () => {
      const fixture = createFixture()
      fixture.put('ws', access)
      const webhook = hook(noOpinion('who knows', 'webhook'))
      const authorizer = createAuthorizer({ ...fixture.sources, webhook })
      const decision = await authorizer.authorize(alice, action('list core/pods'), signal)
      assert.equal(decision.reason, 'access denied\nwho knows')
      assert.ok(decision.hint !== undefined && decision.asked?.user === alice)
    })

    it('let a webhook that is first refuse even health checks', async () => {
      const order = ['Webhook', 'AlwaysAllowGroups', 'AlwaysAllowPaths', 'RBAC'] as const
      assert.equal(await decide({ webhook: hook(), order }, alice, 'get /healthz'), 'deny')
      const silent = { webhook: hook(noOpinion('')), order }
      assert.equal(await decide(silent, alice, 'get /healthz'), 'allow')
    })

    it('use only the authorizers of `order`', async () => {
      const order = ['AlwaysAllowPaths'] as const
      assert.equal(await decide({ order }, alice, 'get /readyz'), 'allow')
      assert.equal(await decide({ order }, loopback, 'list core/pods'), 'no opinion')
      const alwaysAllowPaths = ['/public/*']
      assert.equal(await decide({ order, alwaysAllowPaths }, alice, 'get /public/x'), 'allow')
      assert.equal(await decide({ order, alwaysAllowPaths }, alice, 'get /readyz'), 'no opinion')
    })

    it('fail when an authorizer fails', async () => {
      const webhook = { authorize: () => Promise.reject(new Error('no answer')) }
      await assert.rejects(decide({ webhook }, alice, 'list core/pods'), /no answer/)
    })
  })
})
