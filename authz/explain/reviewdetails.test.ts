import assert from 'node:assert/strict'
import type { Action, Authorizer } from '../../framework/contract/authorizer.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import {
  action,
  clusterBinding,
  createFixture,
  type FixtureOptions,
  user,
  userNamed,
} from '../testing/fixture.ts'
import { type DecisionDetails, detailsFromSources } from './decisiondetails.ts'
import { detailsFromReviews } from './reviewdetails.ts'

const { signal } = new AbortController()
const alice = user('alice', 'devs')

/** The same authorizer, without reasons and traces. */
const terse = (authorizer: Authorizer): Authorizer => ({
  authorize: async (...asked) => {
    const { effect } = await authorizer.authorize(...asked)
    return { effect, reason: `said ${effect}`, authorizer: 'remote' }
  },
})

function told(options: FixtureOptions = {}) {
  const fixture = createFixture(options)
  const authorizer = terse(fixture.authorizer)
  const attributes = detailsFromReviews(authorizer)
  const knowing = detailsFromSources(fixture.authorizer, fixture.sources)
  const missing = (details: DecisionDetails, who: UserInfo, wanted: Action) =>
    details.missing({ user: who, action: wanted, signal })
  const whoRefuses = async (who: UserInfo, wanted: Action) =>
    (await missing(attributes, who, wanted)).map(each => each.authorizer)
  const steps = async (who: UserInfo, wanted: Action) => {
    const request = { requester: alice, user: who, action: wanted, signal }
    const said = await attributes.steps(request, await authorizer.authorize(who, wanted, signal))
    return said.map(step => `${step.authorizer} ${step.decision}`)
  }
  return { fixture, attributes, knowing, missing, whoRefuses, steps }
}

describe('details from reviews of a remote authorizer', () => {
  const account: UserInfo = {
    ...user('system:serviceaccount:default:rest'),
    extra: { 'authentication.kcp.io/cluster-name': ['ws'] },
  }

  it('equal those from the RBAC objects', async () => {
    const { fixture, attributes, knowing, missing } = told()
    const wanted = ['list core/pods ns/', 'get core/pods/log ns/web', 'access /', 'get /openapi']
    for (const what of wanted)
      for (const who of [alice, account, user('system:anonymous')]) {
        const found = await missing(attributes, who, action(what))
        assert.deepEqual(found, await missing(knowing, who, action(what)), `${who.name}: ${what}`)
      }
    for (const { grant } of await missing(attributes, alice, action('list core/pods ns/')))
      for (const object of grant) fixture.put('ws', object)
    assert.equal(await fixture.allows(alice, action('list core/pods ns/')), true)
  })

  it('have a step for each review after a refusal', async () => {
    const { fixture, steps } = told()
    const list = action('list core/pods')
    assert.deepEqual(await steps(alice, list), [
      'remote NoOpinion',
      '02-content NoOpinion',
      '05-local NoOpinion',
    ])
    fixture.put('ws', clusterBinding('system:kcp:workspace:access', userNamed('alice')))
    assert.deepEqual(await steps(alice, list), [
      'remote NoOpinion',
      '02-content Allowed',
      '05-local NoOpinion',
    ])
    fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
    assert.deepEqual(await steps(alice, list), ['remote Allowed'])
  })

  it('report a required group or the phase when the user has access', async () => {
    const { fixture, whoRefuses } = told({ requiredGroups: { ws: 'staff' } })
    assert.deepEqual(await whoRefuses(alice, action('list core/pods')), ['02-content', '05-local'])
    fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
    assert.deepEqual(await whoRefuses(alice, action('list core/pods')), ['01-requiredgroups'])
  })

  it('report the policy of an export when RBAC allows the action', async () => {
    const from = { path: 'root:provider', name: 'pods', cluster: 'provider', policy: 'local' } as const
    const { fixture, whoRefuses } = told({ exports: { 'ws//pods': [from] } })
    fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
    assert.deepEqual(await whoRefuses(alice, action('list core/pods')), ['04-maxpermissionpolicy'])
  })

  it('report only a missing rule for deep reviews and local service accounts', async () => {
    const { whoRefuses } = told()
    const deep = { ...action('list core/pods'), deep: true }
    assert.deepEqual(await whoRefuses(alice, deep), ['05-local'])
    assert.deepEqual(await whoRefuses(account, action('list core/pods')), ['05-local'])
  })

  it('fail when the authorizer fails', async () => {
    const silent = detailsFromReviews({ authorize: () => Promise.reject(new Error('no answer')) })
    await assert.rejects(silent.missing({ user: alice, action: action('list core/pods'), signal }))
  })
})
