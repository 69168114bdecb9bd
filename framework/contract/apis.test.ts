import assert from 'node:assert/strict'
import { compareVersions } from './apis.ts'

describe('versions of a group', () => {
  it('are in the order of their maturity, then of their number, then of their name (8.5)', () => {
    const inOrder = [
      'v10',
      'v2',
      'v1',
      'v11beta2',
      'v10beta3',
      'v3beta1',
      'v12alpha1',
      'v11alpha2',
      'foo1',
      'foo10',
    ]
    assert.deepEqual([...inOrder].reverse().sort(compareVersions), inOrder)
  })
})
