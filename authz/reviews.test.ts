import assert from 'node:assert/strict'
import { loopback, type UserInfo } from '../framework/user.ts'
import { type ReviewResource, reviewStorages } from './reviews.ts'
import {
  clusterBinding,
  contextOf,
  createFixture,
  type Fixture,
  groupNamed,
  user,
  userNamed,
} from './testing/fixture.ts'

const alice = user('alice', 'devs')
const pods = { verb: 'list', resource: 'pods', namespace: 'ns' }
const kinds = {
  selfsubjectaccessreviews: 'SelfSubjectAccessReview',
  subjectaccessreviews: 'SubjectAccessReview',
  localsubjectaccessreviews: 'LocalSubjectAccessReview',
  selfsubjectrulesreviews: 'SelfSubjectRulesReview',
  selfsubjectreviews: 'SelfSubjectReview',
} as const

describe('reviews', () => {
  let fixture: Fixture
  beforeEach(() => {
    fixture = createFixture()
    fixture.put('ws', clusterBinding('system:kcp:workspace:access', groupNamed('system:authenticated')))
    fixture.put('ws', clusterBinding('view', userNamed('alice')))
  })

  /** The status of a review, asked for by a user in a namespace. */
  async function ask(
    plural: keyof typeof kinds,
    spec: object,
    by: UserInfo = alice,
    namespace = '',
  ): Promise<unknown> {
    const object = { apiVersion: 'authorization.k8s.io/v1', kind: kinds[plural], metadata: {}, spec }
    const ctx = contextOf(by, { group: 'authorization.k8s.io', resource: plural, namespace })
    const group = plural === 'selfsubjectreviews' ? 'authentication.k8s.io' : 'authorization.k8s.io'
    const resource = `${plural}.${group}` as ReviewResource
    const key = { cluster: 'ws', namespace, name: '' }
    const storage = reviewStorages(fixture.authorizer, fixture.rbac)[resource]
    const item = await storage.create(ctx, key, object, { dryRun: false, fieldManager: '' })
    assert.deepEqual(item.object.spec, spec)
    return item.object.status
  }

  it('answer what the caller may', async () => {
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

  it('answer what somebody else may, with the groups as they are given', async () => {
    const about = (subject: object) =>
      ask('subjectaccessreviews', { ...subject, resourceAttributes: pods }, loopback)
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

  it('tell a refusal from no opinion', async () => {
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
    it(`refuse to be about ${what}`, async () => {
      await assert.rejects(ask(plural, spec, loopback, 'ns2'), { code: 422, message })
    })

  it('list the rules of a plain member exactly', async () => {
    const plain = await ask('selfsubjectrulesreviews', { namespace: 'default' }, user('bob'))
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

  it('tell the caller who he is', async () => {
    const known = { ...alice, uid: '7', extra: { k: ['v'] } }
    assert.deepEqual(await ask('selfsubjectreviews', {}, known), {
      userInfo: { username: 'alice', uid: '7', groups: alice.groups, extra: { k: ['v'] } },
    })
  })
})
