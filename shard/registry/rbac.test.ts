import assert from 'node:assert/strict'
import { fieldErrorText } from '../../framework/meta/errors.ts'
import { clusterRoleErrors } from './rbac.ts'

describe('rules of aggregated roles', () => {
  it('refuse selectors that are invalid', () => {
    const clusterRoleSelectors = [
      { matchLabels: { a: 'b' } },
      { matchExpressions: [{ key: 'a', operator: 'in', values: ['b'] }] },
    ]
    const role = {
      apiVersion: 'v1',
      kind: 'ClusterRole',
      metadata: { name: 'r' },
      aggregationRule: { clusterRoleSelectors },
    }
    const path = 'aggregationRule.clusterRoleSelectors[1]'
    assert.deepEqual(clusterRoleErrors(role).map(fieldErrorText), [
      `${path}.matchExpressions[0].operator: Invalid value: "in": not a valid selector operator`,
      `${path}: Invalid value: null: invalid label selector.`,
    ])
  })
})
