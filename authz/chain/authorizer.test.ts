import assert from 'node:assert/strict'
import { anonymous, loopback, type UserInfo } from '../../framework/request/user.ts'
import {
  action,
  binding,
  clusterBinding,
  clusterRole,
  createFixture,
  type Fixture,
  groupNamed,
  role,
  user,
  userNamed,
} from '../testing/fixture.ts'

const alice = user('alice', 'devs')
const bob = user('bob')
const kcpAdmin = user('kcp-admin', 'system:kcp:admin')
const access = clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated'))
const readPods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }
const listPods = action('list core/pods ns/')

const serviceAccount = (name: string, extra: UserInfo['extra'] = {}): UserInfo => ({
  ...user(`system:serviceaccount:ns:${name}`, 'system:serviceaccounts', 'system:serviceaccounts:ns'),
  extra,
})
const home = (cluster: string) => ({ 'authentication.kcp.io/cluster-name': [cluster] })
const scopes = (...values: string[]) => ({ 'authentication.kcp.io/scopes': values })

describe('authorizer', () => {
  let fixture: Fixture
  beforeEach(() => {
    fixture = createFixture()
  })

  it('allows system:masters everything in all clusters', async () => {
    for (const cluster of ['ws', 'nowhere', '*', '', 'system:admin'])
      assert.ok(await fixture.allows(loopback, action('delete core/secrets ns/a', cluster)), cluster)
  })

  it('allows health checks, and nothing else, without authentication', async () => {
    for (const path of ['/healthz', '/livez', '/readyz'])
      assert.ok(await fixture.allows(anonymous, action(`get ${path}`, 'nowhere')))
    for (const text of [
      'get /metrics',
      'get /api',
      'get /',
      'get /version',
      'get /healthz/etcd',
      'list core/namespaces',
      'access /',
    ])
      assert.ok(!(await fixture.allows(anonymous, action(text))), text)
  })

  it('requires a role for metrics, and no access to a workspace', async () => {
    assert.ok(!(await fixture.allows(bob, action('get /metrics'))))
    fixture.put('ws', clusterBinding('system:kcp:metrics-reader', userNamed('bob')))
    assert.ok(await fixture.allows(bob, action('get /metrics')))
    assert.ok(!(await fixture.allows(bob, action('get /apis'))))
  })

  it('answers only "access denied", and has the reason in the trace', async () => {
    const decision = await fixture.decide(alice, listPods)
    assert.deepEqual([decision.effect, decision.reason], ['no opinion', 'access denied'])
    assert.match(JSON.stringify(decision.trace), /no verb=access permission on/)
  })

  it('answers the same for clusters that do not exist', async () => {
    const { effect, reason } = await fixture.decide(alice, action('list core/pods', 'nowhere'))
    assert.deepEqual([effect, reason], ['no opinion', 'access denied'])
  })

  it('requires access to the workspace besides the permission', async () => {
    fixture.put('ws', clusterRole('reader', readPods))
    fixture.put('ws', clusterBinding('reader', userNamed('alice')))
    assert.ok(!(await fixture.allows(alice, listPods)))
    fixture.put('ws', access)
    assert.ok(await fixture.allows(alice, listPods))
    assert.ok(!(await fixture.allows(bob, listPods)))
  })

  it('grants only discovery and self reviews with access alone', async () => {
    fixture.put('ws', access)
    for (const text of [
      'get /apis',
      'get /openapi/v3',
      'create authorization.k8s.io/selfsubjectaccessreviews',
    ])
      assert.ok(await fixture.allows(alice, action(text)), text)
    assert.ok(!(await fixture.allows(alice, listPods)))
  })

  for (const [phase, open] of Object.entries({
    Initializing: true,
    Ready: true,
    Inactive: true,
    Terminating: true,
    Deleting: true,
    '': false,
    Scheduling: false,
    Unavailable: false,
  }))
    it(`${open ? 'opens' : 'closes'} a workspace in phase "${phase}"`, async () => {
      const inPhase = createFixture({ phases: { ws: phase } })
      assert.equal(await inPhase.allows(kcpAdmin, listPods), open)
    })

  it('keeps wildcard and system clusters to system:masters', async () => {
    for (const cluster of ['*', '', 'system:admin', 'system:bound-crds'])
      assert.ok(!(await fixture.allows(kcpAdmin, action('list core/pods', cluster))), cluster)
    assert.ok(await fixture.allows(kcpAdmin, listPods))
  })

  it('refuses the statuses of bindings and exports to all but system:masters', async () => {
    for (const resource of ['apibindings', 'apiexports']) {
      const status = action(`update apis.kcp.io/${resource}/status a`)
      assert.equal((await fixture.decide(kcpAdmin, status)).effect, 'deny')
      assert.ok(await fixture.allows(loopback, status))
      assert.ok(await fixture.allows(kcpAdmin, action(`update apis.kcp.io/${resource} a`)))
    }
  })

  it('limits permissions to their logical cluster', async () => {
    fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
    assert.ok(await fixture.allows(alice, action('delete core/secrets ns/a')))
    for (const cluster of ['other', 'nowhere', 'system:admin', '*'])
      assert.ok(!(await fixture.allows(alice, action('delete core/secrets ns/a', cluster))), cluster)
  })

  it('merges roles of the same name of the workspace and of system:admin', async () => {
    fixture.put('ws', access)
    fixture.put('ws', clusterRole('view', { verbs: ['twirl'], apiGroups: ['g.io'], resources: ['widgets'] }))
    fixture.put('ws', clusterBinding('view', userNamed('alice')))
    assert.ok(await fixture.allows(alice, action('twirl g.io/widgets')))
    assert.ok(await fixture.allows(alice, listPods))
    fixture.put('other', access)
    fixture.put('other', clusterBinding('view', userNamed('alice')))
    assert.ok(!(await fixture.allows(alice, action('twirl g.io/widgets', 'other'))))
  })

  describe('bindings', () => {
    beforeEach(() => fixture.put('ws', access))

    it('to Roles apply in their namespace, and to the namespace itself', async () => {
      fixture.put('ws', binding('ns', 'view', userNamed('alice')))
      assert.ok(await fixture.allows(alice, listPods))
      assert.ok(await fixture.allows(alice, action('get core/namespaces ns/ns')))
      assert.ok(!(await fixture.allows(alice, action('list core/pods ns2/'))))
      assert.ok(!(await fixture.allows(alice, action('list core/pods'))))
    })

    it('find a Role only in their own namespace', async () => {
      fixture.put('ws', role('ns', 'reader', readPods))
      fixture.put('ws', binding('ns', 'role/reader', userNamed('alice')))
      fixture.put('ws', binding('ns2', 'role/reader', userNamed('alice')))
      assert.ok(await fixture.allows(alice, listPods))
      assert.ok(!(await fixture.allows(alice, action('list core/pods ns2/'))))
    })

    it('in a namespace grant no paths', async () => {
      fixture.put('ws', clusterRole('metrics', { verbs: ['get'], nonResourceURLs: ['/metrics'] }))
      fixture.put('ws', binding('ns', 'metrics', userNamed('alice')))
      assert.ok(!(await fixture.allows(alice, action('get /metrics'))))
      fixture.put('ws', clusterBinding('metrics', userNamed('alice')))
      assert.ok(await fixture.allows(alice, action('get /metrics')))
    })

    it('distinguish groups from users', async () => {
      fixture.put('ws', clusterBinding('view', groupNamed('devs')))
      assert.ok(await fixture.allows(alice, listPods))
      assert.ok(!(await fixture.allows(user('devs'), listPods)))
      fixture.put('ws', clusterBinding('view', { kind: 'Robot', name: 'bob' }))
      assert.ok(!(await fixture.allows(bob, listPods)))
    })

    it('to roles that do not exist grant nothing', async () => {
      fixture.put('ws', clusterBinding('missing', userNamed('alice')))
      assert.ok(!(await fixture.allows(alice, listPods)))
    })

    it('end when they are changed or deleted', async () => {
      fixture.put('ws', clusterBinding('view', userNamed('alice'), userNamed('bob')))
      assert.ok((await fixture.allows(alice, listPods)) && (await fixture.allows(bob, listPods)))
      const narrowed = clusterBinding('view', userNamed('bob'))
      fixture.put('ws', narrowed)
      assert.ok(!(await fixture.allows(alice, listPods)))
      assert.ok(await fixture.allows(bob, listPods))
      fixture.remove('ws', narrowed)
      assert.ok(!(await fixture.allows(bob, listPods)))
    })
  })

  describe('service accounts', () => {
    beforeEach(() => {
      fixture.put('ws', binding('ns', 'view', { kind: 'ServiceAccount', name: 'robot' }))
      fixture.put(
        'ws',
        binding('ns', 'edit', { kind: 'ServiceAccount', name: 'robot', namespace: 'elsewhere' }),
      )
    })

    it('of the cluster need no access, and a subject without a namespace has that of the binding', async () => {
      assert.ok(await fixture.allows(serviceAccount('robot', home('ws')), listPods))
      assert.ok(!(await fixture.allows(serviceAccount('robot', home('ws')), action('create core/pods ns/'))))
      assert.ok(!(await fixture.allows(serviceAccount('other', home('ws')), listPods)))
    })

    it('of another cluster are other users', async () => {
      const foreign = serviceAccount('robot', home('other'))
      fixture.put('ws', access)
      assert.ok(!(await fixture.allows(foreign, listPods)))
      fixture.put('ws', clusterBinding('admin', groupNamed('system:serviceaccounts')))
      assert.ok(!(await fixture.allows(foreign, listPods)))
      fixture.put('ws', clusterBinding('view', userNamed('system:kcp:serviceaccount:other:ns:robot')))
      assert.ok(await fixture.allows(foreign, listPods))
    })

    it('with two clusters have no permissions', async () => {
      const extra = { 'authentication.kcp.io/cluster-name': ['ws', 'other'] }
      assert.ok(!(await fixture.allows(serviceAccount('robot', extra), listPods)))
    })

    it('out of scope have no permissions', async () => {
      const robot = serviceAccount('robot', { ...home('ws'), ...scopes('cluster:other') })
      assert.ok(!(await fixture.allows(robot, listPods)))
    })
  })

  describe('scopes', () => {
    for (const [values, allowed] of [
      [['cluster:ws'], true],
      [['cluster:ws,cluster:x'], true],
      [['cluster:ws', 'cluster:x'], false],
      [['cluster:x'], false],
      [[''], false],
      [['cluster:*'], false],
      [['tenant:ws'], false],
    ] as const)
      it(`${JSON.stringify(values)} are ${allowed ? 'in' : 'out'}`, async () => {
        assert.equal(await fixture.allows({ ...kcpAdmin, extra: scopes(...values) }, listPods), allowed)
      })
  })
})
