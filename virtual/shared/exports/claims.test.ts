import assert from 'node:assert/strict'
import type { ClaimedResource } from '../../../kcp/index.ts'
import { claimedGroup, sameClaim } from './claims.ts'

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
