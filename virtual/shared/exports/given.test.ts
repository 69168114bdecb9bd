import assert from 'node:assert/strict'
import { uncovered } from '../../../authz/index.ts'
import type { APIBinding, APIExport } from '../../../kcp/index.ts'
import { givenBy } from './given.ts'

/** Whether a provider with this resource in its export may write a role with this verb on it in the workspace of a consumer. */
function mayGrant(verb: string, group: string, resource: string): boolean {
  const binding = {
    spec: {},
    status: { boundResources: [{ group, resource, schema: { name: '', UID: '', identityHash: '' } }] },
  } as unknown as APIBinding
  const { rules } = givenBy(binding, { spec: {} } as APIExport)
  return uncovered(rules, [{ verbs: [verb], apiGroups: [group], resources: [resource] }]).length === 0
}

describe('what a consumer gives by binding an export', () => {
  it('is every verb on the resources of the export', () => {
    assert.ok(mayGrant('*', 'example.com', 'widgets'))
    assert.ok(mayGrant('list', '', 'users'))
  })

  it('is every verb of APIs on service accounts that it claims, but not to impersonate them', () => {
    const claim = { group: '', resource: 'serviceaccounts', verbs: ['*'] }
    const binding = {
      spec: { permissionClaims: [{ ...claim, state: 'Accepted', selector: { matchAll: true } }] },
    }
    const provider = { spec: { permissionClaims: [claim] } } as unknown as APIExport
    const { rules } = givenBy(binding as unknown as APIBinding, provider)
    const lacks = (verb: string) =>
      uncovered(rules, [{ verbs: [verb], apiGroups: [''], resources: ['serviceaccounts'] }]).length > 0
    assert.deepEqual(['create', 'watch', 'impersonate', '*'].filter(lacks), ['impersonate', '*'])
  })

  it('is not to impersonate the users of the consumer, by an export of a resource that is named users', () => {
    for (const [group, resource] of [
      ['', 'users'],
      ['', 'groups'],
      ['authentication.k8s.io', 'userextras'],
    ] as const)
      for (const verb of ['impersonate', '*']) assert.ok(!mayGrant(verb, group, resource), resource)
    assert.ok(!mayGrant('approve', 'certificates.k8s.io', 'signers'))
  })
})
