import assert from 'node:assert/strict'
import { atOnce } from '../../framework/json/json.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { quotaErrors } from './resourcequota.ts'

const quota = (spec: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'a' },
  spec,
})
const problems = (spec: object, old?: object): readonly string[] =>
  atOnce(quotaErrors(quota(spec), old && quota(old))).map(({ field, detail }) => `${field}: ${detail}`)
const selecting = (...matchExpressions: readonly object[]) => ({ scopeSelector: { matchExpressions } })

describe('scopes of quotas', () => {
  it('are known, fit the resources and each other', () => {
    const hard = { pods: '1', 'count/configmaps': '1' }
    assert.deepEqual(problems({ hard, scopes: ['BestEffort', 'Terminating'] }), [])
    assert.deepEqual(problems({ hard: { 'requests.storage': '1' }, scopes: ['VolumeAttributesClass'] }), [])
    assert.deepEqual(problems({ hard: { cpu: '1' }, scopes: ['Nope', 'BestEffort', 'NotBestEffort'] }), [
      'spec.scopes: unsupported scope',
      'spec.scopes: unsupported scope applied to resource',
      'spec.scopes: conflicting scopes',
    ])
  })

  it('do not change, but may be written in another order', () => {
    const scopes = ['BestEffort', 'Terminating']
    assert.deepEqual(problems({ scopes: ['Terminating', ...scopes] }, { scopes }), [])
    assert.deepEqual(problems({}, { scopes }), ['spec.scopes: field is immutable'])
    assert.deepEqual(problems({ scopes }, {}), ['spec.scopes: field is immutable'])
    assert.deepEqual(problems({ scopes: [] }, {}), [])
  })

  it('are reported once, however many there are', () => {
    const scopes = Array(5_000).fill('Nope')
    assert.deepEqual(problems({ scopes }), ['spec.scopes: unsupported scope'])
  })
})

describe('scope selectors of quotas', () => {
  const path = 'spec.scopeSelector.matchExpressions'

  it('name values for the operators that compare them', () => {
    const scopeName = 'PriorityClass'
    assert.deepEqual(problems(selecting({ scopeName, operator: 'In', values: ['a'] })), [])
    assert.deepEqual(problems(selecting({ scopeName, operator: 'DoesNotExist' })), [])
    assert.deepEqual(
      problems(
        selecting(
          { scopeName, operator: 'NotIn' },
          { scopeName, operator: 'Exists', values: ['a'] },
          { scopeName, operator: 'Near' },
        ),
      ),
      [
        `${path}.values: must be at least one value when \`operator\` is 'In' or 'NotIn' for scope selector`,
        `${path}.values: must be no value when \`operator\` is 'Exist' or 'DoesNotExist' for scope selector`,
        `${path}.operator: not a valid selector operator`,
      ],
    )
  })

  it('ask of the scopes without values only whether they exist', () => {
    const found = problems(selecting({ scopeName: 'Terminating', operator: 'In', values: ['a'] }))
    assert.match(
      found.join(),
      /^spec\.scopeSelector\.matchExpressions\.operator: must be 'Exists' when scope/,
    )
  })

  it('have known scopes that fit the resources and each other', () => {
    const expressions = ['Nope', 'Terminating', 'NotTerminating'].map(scopeName => ({
      scopeName,
      operator: 'Exists',
    }))
    assert.deepEqual(problems({ hard: { services: '1' }, ...selecting(...expressions) }), [
      `${path}.scopeName: unsupported scope`,
      `${path}: unsupported scope applied to resource`,
      `${path}: conflicting scopes`,
    ])
  })
})
