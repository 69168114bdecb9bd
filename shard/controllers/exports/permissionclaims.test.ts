import assert from 'node:assert/strict'
import type { AcceptablePermissionClaim, PermissionClaim } from '../../../kcp/claims.ts'
import { applyClaims } from './permissionclaims.ts'

const exported = (resource: string, more: Partial<PermissionClaim> = {}): PermissionClaim => ({
  resource,
  verbs: ['*'],
  ...more,
})
const accepted = (
  resource: string,
  more: Partial<AcceptablePermissionClaim> = {},
): AcceptablePermissionClaim => ({
  resource,
  verbs: ['*'],
  selector: { matchAll: true },
  state: 'Accepted',
  ...more,
})
const always = () => true

describe('permission claims', () => {
  it('applies claims that are exported and accepted, sorted, in the accepted form', () => {
    const { applied, conditions } = applyClaims(
      [exported('secrets'), exported('configmaps'), exported('events')],
      [accepted('secrets'), accepted('configmaps'), accepted('events', { state: 'Rejected' })],
      always,
    )
    assert.deepEqual(
      applied.map(claim => claim.resource),
      ['configmaps', 'secrets'],
    )
    assert.deepEqual(applied[0], {
      resource: 'configmaps',
      verbs: ['*'],
      selector: { matchAll: true },
    })
    assert.deepEqual(
      conditions.map(c => `${c.type} ${c.status}`),
      ['PermissionClaimsValid True', 'PermissionClaimsApplied True'],
    )
  })
  it('reports accepted claims that the export does not have', () => {
    const claims = [accepted('widgets', { group: 'example.io', identityHash: 'beef' })]
    const [valid] = applyClaims([], claims, always).conditions
    assert.equal(valid.reason, 'InvalidPermissionClaims')
    assert.equal(
      valid.message,
      '1 unexpected and/or invalid permission claims (showing first 1): ' +
        'unexpected/invalid claim for widgets.example.io (identity "beef")',
    )
  })
  it('has several of them in brackets, as kcp', () => {
    const claims = ['secrets', 'configmaps'].map(name => accepted(name))
    const [unexpected] = applyClaims([], claims, always).conditions
    assert.match(unexpected.message ?? '', /first 2\): \[unexpected.*secrets.*, unexpected.*configmaps.*\]$/)
    const wanted = ['secrets', 'configmaps'].map(name => exported(name))
    const [, unapplied] = applyClaims(wanted, claims, () => false).conditions
    assert.match(unapplied.message ?? '', /applied: \[unable.*, unable.*\]$/)
  })
  it('warns of other verbs and selectors', () => {
    const [valid] = applyClaims(
      [exported('secrets', { verbs: ['get', 'list'], defaultSelector: { matchLabels: { a: 'b' } } })],
      [accepted('secrets', { verbs: ['get'] })],
      always,
    ).conditions
    assert.equal(valid.severity, 'Warning')
    assert.equal(
      valid.message,
      '1 permission claim(s) have mismatched verbs or selectors (showing first 1): ' +
        'secrets. (verbs: accepted [get], exported [get list]; selector differs from defaultSelector)',
    )
  })
  for (const { mine, theirs } of [
    { mine: ['get'], theirs: ['*'] },
    { mine: ['*'], theirs: ['get', 'list'] },
    { mine: ['list', 'get', 'get'], theirs: ['get', 'list'] },
  ])
    it(`takes the accepted verbs ${mine} as those of the export, ${theirs}`, () => {
      const { conditions } = applyClaims(
        [exported('secrets', { verbs: theirs })],
        [accepted('secrets', { verbs: mine })],
        always,
      )
      assert.equal(conditions[0].status, 'True')
    })
  it('does not apply claims on resources that do not exist', () => {
    const { applied, conditions } = applyClaims(
      [exported('widgets', { group: 'example.io', identityHash: 'beef' })],
      [accepted('widgets', { group: 'example.io', identityHash: 'beef' })],
      () => false,
    )
    assert.deepEqual(applied, [])
    assert.equal(
      conditions[1].message,
      'Permission claims have not been fully applied: unable to find informer for widgets.example.io',
    )
  })
})
