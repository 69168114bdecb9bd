import assert from 'node:assert/strict'
import { inTurns, Pace } from '../../framework/async/awaitable.ts'
import { loopback, type UserInfo } from '../../framework/request/user.ts'
import { detailsFromSources } from '../explain/decisiondetails.ts'
import { createExplainer } from '../explain/explanation.ts'
import { evaluate } from '../rbac/rbac.ts'
import { rulesSteps } from '../rbac/ruleslist.ts'
import {
  clusterBinding,
  clusterRole,
  contextOf,
  createFixture,
  type Fixture,
  groupNamed,
  user,
  userNamed,
} from '../testing/fixture.ts'
import { type ReviewResource, reviewStorages } from './reviews.ts'

const alice = user('alice', 'devs')
const pods = { verb: 'list', resource: 'pods', namespace: 'ns' }
const kinds = {
  selfsubjectaccessreviews: 'SelfSubjectAccessReview',
  subjectaccessreviews: 'SubjectAccessReview',
  localsubjectaccessreviews: 'LocalSubjectAccessReview',
  selfsubjectrulesreviews: 'SelfSubjectRulesReview',
  selfsubjectreviews: 'SelfSubjectReview',
} as const

interface Asked {
  readonly by?: UserInfo
  readonly namespace?: string
  readonly deepReview?: boolean
}

describe('reviews', () => {
  let fixture: Fixture
  beforeEach(() => {
    fixture = createFixture()
    fixture.put('ws', clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated')))
    fixture.put('ws', clusterBinding('view', userNamed('alice')))
  })

  /** Creates a review as a user, and returns its status. */
  async function ask(
    plural: keyof typeof kinds,
    spec: object,
    { by = alice, namespace = '', deepReview = false }: Asked = {},
  ): Promise<unknown> {
    const object = { apiVersion: 'authorization.k8s.io/v1', kind: kinds[plural], metadata: {}, spec }
    const info = { group: 'authorization.k8s.io', resource: plural, namespace }
    const ctx = { ...contextOf(by, info), deepReview }
    const group = plural === 'selfsubjectreviews' ? 'authentication.k8s.io' : 'authorization.k8s.io'
    const resource = `${plural}.${group}` as ReviewResource
    const key = { cluster: 'ws', namespace, name: '' }
    const storage = reviewStorages(fixture.authorizer, fixture.rbac)[resource]
    const item = await storage.create(ctx, key, object, { dryRun: false, fieldManager: '' })
    assert.deepEqual(item.object.spec, plural === 'selfsubjectrulesreviews' ? {} : spec)
    return item.object.status
  }

  it('report the permissions of the caller', async () => {
    assert.deepEqual(await ask('selfsubjectaccessreviews', { resourceAttributes: pods }), {
      allowed: true,
      reason: 'access granted',
    })
    assert.deepEqual(await ask('selfsubjectaccessreviews', { resourceAttributes: { ...pods, verb: '*' } }), {
      allowed: false,
      reason: 'access denied',
    })
    assert.deepEqual(
      await ask('selfsubjectaccessreviews', { nonResourceAttributes: { verb: 'get', path: '/apis' } }),
      {
        allowed: true,
        reason: 'access granted',
      },
    )
  })

  it('report the permissions of another user, with the given groups', async () => {
    const about = (subject: object) =>
      ask('subjectaccessreviews', { ...subject, resourceAttributes: pods }, { by: loopback })
    const denied = { allowed: false, reason: 'access denied' }
    assert.deepEqual(await about({ user: 'alice' }), denied)
    assert.deepEqual(await about({ user: 'bob', groups: ['system:authenticated'] }), denied)
    assert.deepEqual(await about({ user: 'alice', groups: ['system:authenticated'] }), {
      allowed: true,
      reason: 'access granted',
    })
    const foreign = { extra: { 'authentication.kcp.io/scopes': ['cluster:other'] } }
    assert.deepEqual(await about({ user: 'alice', groups: ['system:kcp:admin'], ...foreign }), denied)
  })

  it('distinguish denied from no opinion', async () => {
    const resourceAttributes = {
      verb: 'get',
      group: 'apis.kcp.io',
      resource: 'apiexports',
      subresource: 'status',
    }
    assert.deepEqual(await ask('selfsubjectaccessreviews', { resourceAttributes }), {
      allowed: false,
      denied: true,
      reason: 'access denied',
    })
  })

  for (const [what, plural, spec, message] of [
    ['nothing', 'selfsubjectaccessreviews', {}, /exactly one of nonResourceAttributes or resourceAttributes/],
    [
      'two things',
      'selfsubjectaccessreviews',
      { resourceAttributes: pods, nonResourceAttributes: { verb: 'get', path: '/' } },
      /spec.nonResourceAttributes: Invalid value.*cannot be specified in combination with resourceAttributes/,
    ],
    [
      'nobody',
      'subjectaccessreviews',
      { resourceAttributes: pods },
      /spec.user: .*at least one of user or group/,
    ],
    [
      'another namespace',
      'localsubjectaccessreviews',
      { user: 'a', resourceAttributes: pods },
      /spec.resourceAttributes.namespace: Invalid value: "ns": must match metadata.namespace/,
    ],
  ] as const)
    it(`refuse ${what}`, async () => {
      await assert.rejects(ask(plural, spec, { by: loopback, namespace: 'ns2' }), { code: 422, message })
    })

  it('list a large number of rules between the turns of others', async () => {
    const rules = Array.from({ length: 20_000 }, (_, i) => ({
      verbs: ['get', 'list'],
      apiGroups: ['example.com'],
      resources: [`r${i}`],
    }))
    fixture.put('ws', clusterBinding('many', userNamed('alice')))
    fixture.put('ws', clusterRole('many', ...rules))
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const status = await ask('selfsubjectrulesreviews', { namespace: 'default' })
    isOver = true
    const { resourceRules } = status as { resourceRules: readonly object[] }
    assert.deepEqual(resourceRules.slice(-20_000), rules)
    assert.ok(turns >= 3, `${turns} turns`)
  })

  it('list the rules of a large number of roles between the turns of others', async () => {
    const count = 20_000
    for (let i = 0; i < count; i++) {
      const { metadata, ...binding } = clusterBinding(`r${i}`, userNamed('alice'))
      fixture.put('ws', { ...binding, metadata: { ...metadata, name: `b${i}` } })
      const rule = { verbs: ['get'], apiGroups: ['example.com'], resources: [`r${i}`] }
      fixture.put('ws', clusterRole(`r${i}`, rule))
    }
    let [turns, isOver] = [0, false]
    const next = (): void => {
      turns++
      if (!isOver) setImmediate(next)
    }
    setImmediate(next)
    const before = await inTurns(rulesSteps(fixture.rbac, alice, 'ws', 'default'), new Pace())
    isOver = true
    assert.ok(before.length >= count)
    assert.ok(turns >= 2, `${turns} turns`)
  })

  it('name some of many roles that do not exist', async () => {
    for (let i = 0; i < 1_000; i++) {
      const { metadata, ...binding } = clusterBinding(`none${i}`, userNamed('alice'))
      fixture.put('ws', { ...binding, metadata: { ...metadata, name: `b${i}` } })
    }
    const users = [alice]
    const { reason } = evaluate(
      fixture.rbac,
      { users, cluster: 'ws', namespace: '' },
      { verb: 'get', cluster: 'ws', path: '/none' },
    )
    assert.match(reason, /"none0" not found, .*, and 900 others\]$/)
  })

  it('list the rules of a member exactly', async () => {
    const plain = await ask('selfsubjectrulesreviews', { namespace: 'default' }, { by: user('bob') })
    const review = (resources: string[], group: string) => ({
      verbs: ['create'],
      apiGroups: [group],
      resources,
    })
    const health = ['/healthz', '/livez', '/readyz', '/version', '/version/']
    const { resourceRules, nonResourceRules, incomplete } = plain as Record<
      string,
      { nonResourceURLs: string[] }[]
    >
    assert.deepEqual(resourceRules, [
      review(['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], 'authorization.k8s.io'),
      review(['selfsubjectreviews'], 'authentication.k8s.io'),
    ])
    const discovery = ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', ...health]
    assert.deepEqual(
      nonResourceRules?.map(({ nonResourceURLs }) => nonResourceURLs.toSorted()),
      [discovery.toSorted(), health, ['/']],
    )
    assert.equal(incomplete, false)
  })

  it('list no rules without a namespace', async () => {
    await assert.rejects(ask('selfsubjectrulesreviews', {}), {
      code: 400,
      message: 'no namespace on request',
    })
  })

  describe('deep SubjectAccessReviews', () => {
    const closed = () => createFixture({ requiredGroups: { ws: 'nobody' } })
    const about = { user: 'alice', resourceAttributes: pods }
    const deeply = async (by: UserInfo, kind: keyof typeof kinds = 'subjectaccessreviews') => {
      fixture = closed()
      fixture.put('ws', clusterBinding('view', userNamed('alice')))
      const { allowed } = (await ask(kind, about, { by, deepReview: true })) as { allowed: boolean }
      return allowed
    }

    it('require system:masters', async () => {
      assert.equal(await deeply(loopback), true)
      const warrant = { 'authorization.kcp.io/warrant': ['{"groups":["system:masters"]}'] }
      for (const by of [user('kcp-admin', 'system:kcp:admin'), { ...alice, extra: warrant }])
        assert.equal(await deeply(by), false)
    })

    it('are not other kinds of reviews', async () => {
      assert.equal(await deeply(loopback, 'localsubjectaccessreviews').catch(() => false), false)
    })

    it('require the header', async () => {
      fixture = closed()
      fixture.put('ws', clusterBinding('view', userNamed('alice')))
      assert.deepEqual(await ask('subjectaccessreviews', about, { by: loopback }), {
        allowed: false,
        denied: true,
        reason: 'access denied',
      })
    })
  })

  it('report an evaluation error', async () => {
    const authorizer = { authorize: () => Promise.reject(new Error('the webhook at https://inner is gone')) }
    fixture = { ...fixture, authorizer }
    assert.deepEqual(await ask('selfsubjectaccessreviews', { resourceAttributes: pods }), {
      allowed: false,
      evaluationError: 'the authorizer failed',
    })
  })

  it('have an explanation only on request', async () => {
    const explainer = createExplainer({
      ...fixture,
      details: detailsFromSources(fixture.authorizer, fixture.sources),
      views: () => [],
    })
    const told = async (annotations: Record<string, string>) => {
      const storage = reviewStorages(fixture.authorizer, fixture.rbac, explainer)[
        'subjectaccessreviews.authorization.k8s.io'
      ]
      const ctx = contextOf(loopback, { group: 'authorization.k8s.io', resource: 'subjectaccessreviews' })
      const spec = { user: 'bob', resourceAttributes: pods }
      const object = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: { annotations },
        spec,
      }
      const key = { cluster: 'ws', namespace: '', name: '' }
      return (await storage.create(ctx, key, object, { dryRun: false, fieldManager: '' })).object.metadata
        .annotations
    }
    assert.equal((await told({}))?.['oriel/explanation'], undefined)
    const explanation = JSON.parse((await told({ 'oriel/explain': 'true' }))?.['oriel/explanation'] ?? '{}')
    assert.deepEqual(
      explanation.missing.map(({ authorizer }: { authorizer: string }) => authorizer),
      ['02-content', '05-local'],
    )
  })

  it('report the user of the caller', async () => {
    const known = { ...alice, uid: '7', extra: { k: ['v'] } }
    assert.deepEqual(await ask('selfsubjectreviews', {}, { by: known }), {
      userInfo: { username: 'alice', uid: '7', groups: alice.groups, extra: { k: ['v'] } },
    })
  })
})
