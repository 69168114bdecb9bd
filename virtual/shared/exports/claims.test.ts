import assert from 'node:assert/strict'
import type { Selection } from '../../../framework/index.ts'
import { type ClaimedResource, claimLabelValue, unlistedClaimValue } from '../../../kcp/index.ts'
import { claimedGroup, claimLenses, sameClaim } from './claims.ts'

describe('the lens of a claim', () => {
  const of = { cluster: 'provider', name: 'widgets' }
  const claim = { group: '', resource: 'configmaps' }
  const lenses = claimLenses(of, claim)
  const valuesIn = (cluster: string, lens = lenses.lens): readonly string[] => {
    const asked: Selection = { cluster }
    const { labels } = lens.narrow?.(asked) ?? asked
    return (labels?.requirements ?? []).flatMap(requirement =>
      'values' in requirement ? requirement.values : [],
    )
  }

  it('shows objects of all logical clusters only where a verb was accepted that reads many', () => {
    assert.deepEqual(valuesIn('*'), [claimLabelValue(claim)])
    assert.deepEqual(valuesIn('consumer'), [claimLabelValue(claim), unlistedClaimValue(claim)])
  })

  it('shows a watch that is still open no objects for which only other verbs are accepted', () => {
    for (const cluster of ['*', 'consumer'])
      assert.deepEqual(valuesIn(cluster, lenses.watching), [claimLabelValue(claim)])
  })
})

describe('the group of a claim', () => {
  it('is the core group when it is absent, as in objects that kcp writes', () => {
    const written = JSON.parse('{"resource":"configmaps"}') as ClaimedResource
    assert.equal(claimedGroup(written.group, 'configmaps'), '')
    assert.equal(sameClaim(written, { group: '', resource: 'configmaps' }), true)
  })

  it('is one for both kinds of events', () => {
    assert.equal(claimedGroup('events.k8s.io', 'events'), '')
    assert.equal(claimedGroup('events.k8s.io', 'others'), 'events.k8s.io')
  })
})
