import assert from 'node:assert/strict'
import { requestAllowance } from '../../../openapi/index.ts'
import { WatchCosts } from './watchcosts.ts'

const ada = { name: 'ada', groups: [] }
const bob = { name: 'bob', groups: [] }

describe('the costs of the watches of a user', () => {
  it('delay the watches of this user only, until time has paid for them', () => {
    let now = 0
    const costs = new WatchCosts(() => now)
    assert.equal(costs.charge(ada, 10_000_000), 0)
    assert.equal(costs.charge(ada, 3_000_000), 1_000)
    assert.equal(costs.charge(bob, 10_000_000), 0)
    now = 500
    assert.equal(costs.charge(ada, 0), 500)
    now = 2_000
    assert.equal(costs.charge(ada, 0), 0)
  })

  it('of service accounts do not delay those of the same name in other logical clusters', () => {
    const robot = (home: string) => ({
      name: 'system:serviceaccount:default:robot',
      groups: [],
      extra: { 'authentication.kcp.io/cluster-name': [home] },
    })
    const costs = new WatchCosts(() => 0)
    assert.notEqual(costs.charge(robot('one'), 13_000_000), 0)
    assert.equal(costs.charge(robot('two'), 10_000_000), 0)
  })

  it('do not delay administrators and the server itself', () => {
    const costs = new WatchCosts(() => 0)
    assert.equal(costs.charge({ name: 'admin', groups: ['system:masters'] }, 1e12), 0)
  })

  it('are what was used of an allowance, which is renewed', async () => {
    const costs = new WatchCosts(() => 0)
    const { signal } = new AbortController()
    const allowance = requestAllowance()
    assert.equal(costs.renew(allowance, { user: ada, signal }), undefined)
    allowance.left = -30_000_000
    const stop = new AbortController()
    const wait = costs.renew(allowance, { user: ada, signal: stop.signal })
    assert.ok(wait instanceof Promise)
    assert.deepEqual(allowance, requestAllowance())
    stop.abort()
    await wait
  })
})
