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
import { type Insight, insightInto } from './insight.ts'
import { insightByAsking } from './narrowing.ts'

const { signal } = new AbortController()
const alice = user('alice', 'devs')

/** The same authorizer, of which nothing is heard but yes and no. */
const terse = (authorizer: Authorizer): Authorizer => ({
  authorize: async (...asked) => {
    const { effect } = await authorizer.authorize(...asked)
    return { effect, reason: `said ${effect}`, authorizer: 'elsewhere' }
  },
})

function told(options: FixtureOptions = {}) {
  const fixture = createFixture(options)
  const authorizer = terse(fixture.authorizer)
  const asking = insightByAsking(authorizer)
  const knowing = insightInto(fixture.authorizer, fixture.sources)
  const missing = (insight: Insight, who: UserInfo, wanted: Action) =>
    insight.missing({ user: who, action: wanted, signal })
  const whoRefuses = async (who: UserInfo, wanted: Action) =>
    (await missing(asking, who, wanted)).map(each => each.authorizer)
  const steps = async (who: UserInfo, wanted: Action) => {
    const request = { asker: alice, user: who, action: wanted, signal }
    const said = await asking.steps(request, await authorizer.authorize(who, wanted, signal))
    return said.map(step => `${step.authorizer} ${step.decision}`)
  }
  return { fixture, asking, knowing, missing, whoRefuses, steps }
}

describe('what is missing, as narrower questions tell it', () => {
  const account: UserInfo = {
    ...user('system:serviceaccount:default:rest'),
    extra: { 'authentication.kcp.io/cluster-name': ['ws'] },
  }

  it('is what is found in the objects themselves', async () => {
    const { fixture, asking, knowing, missing } = told()
    const wanted = ['list core/pods ns/', 'get core/pods/log ns/web', 'access /', 'get /openapi']
    for (const what of wanted)
      for (const who of [alice, account, user('system:anonymous')]) {
        const found = await missing(asking, who, action(what))
        assert.deepEqual(found, await missing(knowing, who, action(what)), `${who.name}: ${what}`)
      }
    for (const { grant } of await missing(asking, alice, action('list core/pods ns/')))
      for (const object of grant) fixture.put('ws', object)
    assert.equal(await fixture.allows(alice, action('list core/pods ns/')), true)
  })

  it('has a step for each question, once somebody has been refused', async () => {
    const { fixture, steps } = told()
    const list = action('list core/pods')
    assert.deepEqual(await steps(alice, list), [
      'elsewhere NoOpinion',
      '02-content NoOpinion',
      '05-local NoOpinion',
    ])
    fixture.put('ws', clusterBinding('system:kcp:workspace:access', userNamed('alice')))
    assert.deepEqual(await steps(alice, list), [
      'elsewhere NoOpinion',
      '02-content Allowed',
      '05-local NoOpinion',
    ])
    fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
    assert.deepEqual(await steps(alice, list), ['elsewhere Allowed'])
  })

  it('is a group or a phase, where access has been given', async () => {
    const { fixture, whoRefuses } = told({ requiredGroups: { ws: 'staff' } })
    assert.deepEqual(await whoRefuses(alice, action('list core/pods')), ['02-content', '05-local'])
    fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
    assert.deepEqual(await whoRefuses(alice, action('list core/pods')), ['01-requiredgroups'])
  })

  it('is the policy of an export, where the workspace allows everything', async () => {
    const from = { path: 'root:provider', name: 'pods', cluster: 'provider', policy: 'local' } as const
    const { fixture, whoRefuses } = told({ exports: { 'ws//pods': [from] } })
    fixture.put('ws', clusterBinding('cluster-admin', userNamed('alice')))
    assert.deepEqual(await whoRefuses(alice, action('list core/pods')), ['04-maxpermissionpolicy'])
  })

  it('is nothing but a rule, for questions past the entrance', async () => {
    const { whoRefuses } = told()
    const deep = { ...action('list core/pods'), deep: true }
    assert.deepEqual(await whoRefuses(alice, deep), ['05-local'])
    assert.deepEqual(await whoRefuses(account, action('list core/pods')), ['05-local'])
  })

  it('is not told when nobody answers', async () => {
    const silent = insightByAsking({ authorize: () => Promise.reject(new Error('no answer')) })
    await assert.rejects(silent.missing({ user: alice, action: action('list core/pods'), signal }))
  })
})
