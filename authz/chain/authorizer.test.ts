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

  it('lets system:masters do everything everywhere', async () => {
    for (const cluster of ['ws', 'nowhere', '*', '', 'system:admin'])
      assert.ok(await fixture.allows(loopback, action('delete core/secrets ns/a', cluster)), cluster)
  })

  it('lets everybody see health and nothing else', async () => {
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

  it('needs no access to a workspace for metrics, but a role', async () => {
    assert.ok(!(await fixture.allows(bob, action('get /metrics'))))
    fixture.put('ws', clusterBinding('system:kcp:metrics-reader', userNamed('bob')))
    assert.ok(await fixture.allows(bob, action('get /metrics')))
    assert.ok(!(await fixture.allows(bob, action('get /apis'))))
  })

  it('says only "access denied", and why in the trace', async () => {
    const decision = await fixture.decide(alice, listPods)
    assert.deepEqual([decision.effect, decision.reason], ['no opinion', 'access denied'])
    assert.match(JSON.stringify(decision.trace), /no verb=access permission on/)
  })

  it('says the same of clusters that do not exist', async () => {
    const { effect, reason } = await fixture.decide(alice, action('list core/pods', 'nowhere'))
    assert.deepEqual([effect, reason], ['no opinion', 'access denied'])
  })

  it('needs access to the workspace beside the right itself', async () => {
    fixture.put('ws', clusterRole('reader', readPods))
    fixture.put('ws', clusterBinding('reader', userNamed('alice')))
    assert.ok(!(await fixture.allows(alice, listPods)))
    fixture.put('ws', access)
    assert.ok(await fixture.allows(alice, listPods))
    assert.ok(!(await fixture.allows(bob, listPods)))
  })

  it('gives with access alone only discovery and reviews of oneself', async () => {
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

  it('refuses the statuses of bindings and exports to everybody but system:masters', async () => {
    for (const resource of ['apibindings', 'apiexports']) {
      const status = action(`update apis.kcp.io/${resource}/status a`)
      assert.equal((await fixture.decide(kcpAdmin, status)).effect, 'deny')
      assert.ok(await fixture.allows(loopback, status))
      assert.ok(await fixture.allows(kcpAdmin, action(`update apis.kcp.io/${resource} a`)))
    }
  })

  it('keeps rights within their logical cluster', async () => {
    fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
    assert.ok(await fixture.allows(alice, action('delete core/secrets ns/a')))
    for (const cluster of ['other', 'nowhere', 'system:admin', '*'])
      assert.ok(!(await fixture.allows(alice, action('delete core/secrets ns/a', cluster))), cluster)
  })

  it('adds up equally named roles of the workspace and of system:admin', async () => {
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

    it('of roles hold in their namespace, and on the namespace itself', async () => {
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

    it('in a namespace never give paths', async () => {
      fixture.put('ws', clusterRole('metrics', { verbs: ['get'], nonResourceURLs: ['/metrics'] }))
      fixture.put('ws', binding('ns', 'metrics', userNamed('alice')))
      assert.ok(!(await fixture.allows(alice, action('get /metrics'))))
      fixture.put('ws', clusterBinding('metrics', userNamed('alice')))
      assert.ok(await fixture.allows(alice, action('get /metrics')))
    })

    it('find groups and users, and do not mix them up', async () => {
      fixture.put('ws', clusterBinding('view', groupNamed('devs')))
      assert.ok(await fixture.allows(alice, listPods))
      assert.ok(!(await fixture.allows(user('devs'), listPods)))
      fixture.put('ws', clusterBinding('view', { kind: 'Robot', name: 'bob' }))
      assert.ok(!(await fixture.allows(bob, listPods)))
    })

    it('to roles that do not exist give nothing', async () => {
      fixture.put('ws', clusterBinding('missing', userNamed('alice')))
      assert.ok(!(await fixture.allows(alice, listPods)))
    })

    it('end when they change or go', async () => {
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

    it('of the cluster need no access, and a subject without namespace is in the binding’s', async () => {
      assert.ok(await fixture.allows(serviceAccount('robot', home('ws')), listPods))
      assert.ok(!(await fixture.allows(serviceAccount('robot', home('ws')), action('create core/pods ns/'))))
      assert.ok(!(await fixture.allows(serviceAccount('other', home('ws')), listPods)))
    })

    it('of another cluster are somebody else', async () => {
      const foreign = serviceAccount('robot', home('other'))
      fixture.put('ws', access)
      assert.ok(!(await fixture.allows(foreign, listPods)))
      fixture.put('ws', clusterBinding('admin', groupNamed('system:serviceaccounts')))
      assert.ok(!(await fixture.allows(foreign, listPods)))
      fixture.put('ws', clusterBinding('view', userNamed('system:kcp:serviceaccount:other:ns:robot')))
      assert.ok(await fixture.allows(foreign, listPods))
    })

    it('with two homes are nobody', async () => {
      const extra = { 'authentication.kcp.io/cluster-name': ['ws', 'other'] }
      assert.ok(!(await fixture.allows(serviceAccount('robot', extra), listPods)))
    })

    it('out of scope lose their rights', async () => {
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
